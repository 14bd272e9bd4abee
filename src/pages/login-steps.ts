/** The steps of an attempt, as the operator reads them. */

import type { LoginStepView, StepKind, TracedStep } from "../auth/trace/trace.ts";
import { wordsFor } from "./reason-words.ts";
import type { LoginStepView as StepView } from "./view/logins-view.ts";

const TITLES: Readonly<Record<StepKind, string>> = {
  probed: "Looked for metadata",
  challenged: "Was told to sign in",
  bearer_refused: "Came with a token that is not good",
  registered: "Registered itself",
  registration_refused: "Could not register",
  asked: "Asked for access",
  ask_refused: "Could not ask for access",
  consent_shown: "The consent page was shown",
  answered: "The person answered",
  attempt_refused: "The attempt could not go on",
  sent_to_provider: "The person was sent to sign in",
  signed_in: "The person signed in",
  sign_in_refused: "The person was not signed in",
  code_issued: "A code was sent",
  token_issued: "A token was issued",
  token_refused: "No token was issued",
  used: "The token was used",
};

const FAILURES: ReadonlySet<StepKind> = new Set([
  ...(["bearer_refused", "registration_refused", "ask_refused", "attempt_refused"] as const),
  ...(["sign_in_refused", "token_refused"] as const),
]);
const NOTED: ReadonlySet<StepKind> = new Set(["probed", "challenged", "consent_shown", "asked"]);

/** The members that are not shown as fields of a step: our ids mean nothing to a person. */
const HIDDEN_MEMBERS: ReadonlySet<string> = new Set([
  "kind",
  "client",
  "attempt",
  "grant",
  "isFound",
]);

/** The label of a field whose value alone is not clear. */
const WORDS: Readonly<Record<string, string>> = {
  redirectUri: "back to ",
  redirectUris: "back to ",
  registered: "registered ",
  resource: "for ",
  scopes: "with ",
  provider: "with ",
  user: "as ",
  claimed: "client id: ",
  error: "OAuth error ",
  status: "HTTP status ",
};

/** Fields whose values are codes. */
const CODES: ReadonlySet<string> = new Set(["reason", "grantType", "decision"]);

/** @param before the previous step, so that only changes of the sender are shown. */
export function stepView(traced: TracedStep, before: TracedStep | undefined): StepView {
  const { step, at, times, address, agent } = traced;
  const isElsewhere = before?.address !== address || before.agent !== agent;
  const from = isElsewhere ? [`from ${address}`, agent] : [];
  const detail = [...detailsOf(step), ...from].filter((each) => each !== "").join(" · ");
  return {
    at,
    title: times === 1 ? TITLES[step.kind] : `${TITLES[step.kind]} (${times} times)`,
    detail: detail === "" ? undefined : detail,
    outcome: outcomeOf(step),
  };
}

function detailsOf(step: LoginStepView): readonly string[] {
  const isDocument = step.kind === "ask_refused" && step.reason === "document";
  const said = Object.entries(step)
    .filter(([name]) => !HIDDEN_MEMBERS.has(name))
    // The likely cause already has the sentence for it.
    .filter(([name]) => name !== "detail" || !isDocument)
    .map(([name, value]: [string, unknown]) => {
      const text = Array.isArray(value) ? value.join(", ") : String(value);
      // The one error code that no RFC defines.
      if (name === "error" && text === "limited") return wordsFor(text);
      return (WORDS[name] ?? "") + (CODES.has(name) ? wordsFor(text) : text);
    });
  return step.kind === "probed" && !step.isFound ? [...said, "there is none"] : said;
}

function outcomeOf(step: LoginStepView): StepView["outcome"] {
  const isDenied = step.kind === "answered" && step.decision === "denied";
  const isTooLittle = step.kind === "used" && step.status !== 200;
  if (FAILURES.has(step.kind) || isDenied || isTooLittle) return "failed";
  return NOTED.has(step.kind) ? "noted" : "ok";
}
