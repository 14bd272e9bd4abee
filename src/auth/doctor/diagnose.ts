/**
 * Finds the outcome of an attempt, and its cause in one sentence. The last step decides: an error
 * that was overcome does not count. Pure; the sentences for each kind of step are in the tables
 * beside this file.
 */

import {
  askCause,
  attemptCause,
  type EarlierSteps,
  registrationCause,
  tokenCause,
} from "./causes.ts";
import type { StepKind, StepOf, TracedStep } from "../trace/trace.ts";
import { PRELIMINARY } from "../trace/trace-key.ts";

export interface Diagnosis {
  /** `open`: the attempt may still continue. */
  readonly outcome: "succeeded" | "failed" | "open";
  readonly sentence: string;
}

type Judge<K extends StepKind> = (traced: TracedStep<StepOf<K>>, before: EarlierSteps) => Diagnosis;

const MINUTE_MS = 60_000;
/** A program takes its automatic steps within seconds. */
const PROMPT_MS = 2 * MINUTE_MS;

const JUDGES: { readonly [K in StepKind]: Judge<K> } = {
  probed: (_, { steps, age }) =>
    steps.some(({ step }) => step.kind === "probed" && step.isFound)
      ? waiting(age < PROMPT_MS, {
          now: "The application looks up how to sign in.",
          never:
            "The application looked up how to sign in and went no further: it may know neither of the ways to register.",
        })
      : failed(
          "The application looked for its way to sign in where there is none: check the address that it was given.",
        ),
  challenged: (_, { age }) =>
    waiting(age < PROMPT_MS, {
      now: "The application was told to sign in.",
      never: "The application was told to sign in, and never looked up how: it may not be able to.",
    }),
  bearer_refused: (_, { steps }) =>
    failed(
      steps.some(({ step }) => step.kind === "token_issued")
        ? "The application got a token and sent it to another address than it is for, or sent another one."
        : "The application sent a token that is not good here: it has expired, was revoked, or is for another server.",
    ),

  registered: (_, { age }) =>
    waiting(age < PROMPT_MS, {
      now: "The application has registered itself.",
      never:
        "The application registered itself and never asked for access: its browser window may have been blocked.",
    }),
  registration_refused: ({ step }) => failed(registrationCause(step)),
  asked: (_, { age, limits }) =>
    waiting(age < limits.attemptMinutes * MINUTE_MS, {
      now: "The application has asked for access.",
      never: "The application asked for access, and the person did not go on.",
    }),
  ask_refused: ({ step }) => failed(askCause(step)),
  consent_shown: (_, { age, limits }) =>
    waiting(age < limits.attemptMinutes * MINUTE_MS, {
      now: "The consent page is shown, and waits for an answer.",
      never: `The consent page was shown but nobody answered it within ${limits.attemptMinutes} minutes.`,
    }),
  answered: ({ step }, { age, limits }) =>
    step.decision === "denied"
      ? failed("The person turned the application away.")
      : waiting(age < limits.attemptMinutes * MINUTE_MS, {
          now: "The application was approved, and the person signs in.",
          never: "The application was approved, but nobody signed in after it.",
        }),
  attempt_refused: ({ step }) => failed(attemptCause(step)),
  sent_to_provider: ({ step }, { age, limits }) =>
    waiting(age < limits.attemptMinutes * MINUTE_MS, {
      now: `The person signs in with ${step.provider}.`,
      never: `The person was sent to ${step.provider} to sign in and did not come back.`,
    }),
  signed_in: ({ step }, { age }) =>
    step.client === undefined
      ? succeeded("Somebody signed in to these pages.")
      : waiting(age < PROMPT_MS, {
          now: "The person has signed in.",
          never: "The person signed in, but the application was not sent its code.",
        }),
  sign_in_refused: ({ step }) => failed(signInCause(step)),
  code_issued: (_, { steps, age, limits }) =>
    waiting(age < limits.codeSeconds * 1000, {
      now: "The application was sent its code.",
      never: `The application never came back with its code: it may have been closed, or something blocks its redirect${whereTo(steps)}.`,
    }),

  token_issued: (_, { age }) =>
    waiting(age < PROMPT_MS, {
      now: "The application has its token.",
      never:
        "The application got its token and never used it: it may have been closed, or it did not accept the answer.",
    }),
  token_refused: (traced, before) => failed(tokenCause(traced, before)),
  used: ({ step }) =>
    step.status === 200
      ? succeeded("The application is connected.")
      : failed(
          "The application's token does not allow what it tried: it has to ask for more access.",
        ),
};

/** @param steps in order of time. @param now milliseconds since 1970. */
export function diagnose(
  steps: readonly TracedStep[],
  now: number,
  limits: EarlierSteps["limits"],
): Diagnosis {
  // Look-ups decide only when there are no other steps.
  const decisive = latest(steps.filter(({ step }) => !PRELIMINARY.has(step.kind))) ?? latest(steps);
  if (decisive === undefined) return { outcome: "open", sentence: "Nothing has happened yet." };
  const before = steps.filter(({ at }) => at <= decisive.lastAt);
  return judge(decisive, { steps: before, age: now - decisive.lastAt, limits });
}

/** A counted step stands at its first occurrence; its last occurrence matters here. */
function latest(steps: readonly TracedStep[]): TracedStep | undefined {
  return steps.toSorted((a, b) => a.lastAt - b.lastAt).at(-1);
}

/** The table has a judge for each kind, which the compiler cannot infer through the union. */
function judge(traced: TracedStep, before: EarlierSteps): Diagnosis {
  const judgeOf = JUDGES[traced.step.kind] as Judge<StepKind>;
  return judgeOf(traced, before);
}

function waiting(
  isOpen: boolean,
  words: { readonly now: string; readonly never: string },
): Diagnosis {
  return isOpen ? { outcome: "open", sentence: words.now } : failed(words.never);
}

function failed(sentence: string): Diagnosis {
  return { outcome: "failed", sentence };
}

function succeeded(sentence: string): Diagnosis {
  return { outcome: "succeeded", sentence };
}

function whereTo(steps: readonly TracedStep[]): string {
  const asked = steps.findLast(({ step }) => step.kind === "asked")?.step;
  return asked?.kind === "asked" ? ` to ${asked.redirectUri}` : "";
}

/** @returns the cause for which a person was not signed in: by the reason, or the detail itself. */
function signInCause({ provider, reason, detail }: StepOf<"sign_in_refused">): string {
  switch (reason) {
    case "not-allowed":
      return `The person proved who they are with ${provider}, but is not among those who may use this gateway.`;
    case "disabled":
      return "The person was disabled by an administrator.";
    case "limited":
      return "There were too many tries to sign in: wait a quarter of an hour.";
    default:
      return detail === "" ? `${provider} did not sign the person in.` : detail;
  }
}
