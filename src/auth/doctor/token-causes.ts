/** The cause for which an application got no token: for its code, or for its earlier token. */

import { FORGOTTEN, TOO_OFTEN } from "./ask-causes.ts";
import type { EarlierSteps } from "./diagnosis.ts";
import type { StepOf, TracedStep } from "../trace/trace.ts";

const CONNECT_AGAIN = "connect the application again";

export function tokenCause(
  { step, at }: TracedStep<StepOf<"token_refused">>,
  { steps, limits }: EarlierSteps,
): string {
  const isRefresh = step.grantType === "refresh_token";
  switch (step.error) {
    case "limited":
      return TOO_OFTEN;
    case "invalid_client":
      return clientCause(step);
    case "invalid_grant":
      return isRefresh ? refreshCause(step) : codeCause(step, at, steps, limits.codeSeconds);
    case "invalid_target":
      return "The application asked for a token for another resource than it was approved for.";
    case "invalid_scope":
      return "The application asked for scopes that it was not given.";
    case "unauthorized_client":
    case "unsupported_grant_type":
      return "The application asked for a token in a way that is not supported here.";
    case "temporarily_unavailable":
      return "The sign-in provider could not be reached: the application will try again.";
    default:
      return "The application's request for a token could not be read.";
  }
}

type Refused = StepOf<"token_refused">;

function clientCause({ reason }: Refused): string {
  return reason === "wrong-secret"
    ? "The application did not prove who it is: its secret is missing or wrong."
    : FORGOTTEN;
}

function codeCause(
  { reason }: Refused,
  at: number,
  steps: readonly TracedStep[],
  codeSeconds: number,
): string {
  const issued = steps.findLast(({ step }) => step.kind === "code_issued");
  const isSpent = steps.some(
    (traced) => traced.step.kind === "token_issued" && traced.at >= (issued?.at ?? 0),
  );
  if (reason === "used-code" || (isSpent && issued !== undefined)) {
    return `The application sent its code twice, so its access was ended: ${CONNECT_AGAIN}.`;
  }
  switch (reason) {
    case "verifier":
      return "The application's code verifier does not belong to its request: it may have begun twice at once.";
    case "redirect":
      return "The application named another redirect address for its code than it had asked for.";
    case "other-client":
      return "The application sent a code that was given to another one.";
    default: {
      const tookMs = issued === undefined ? 0 : at - issued.at;
      return tookMs >= codeSeconds * 1000
        ? `The application sent its code too late: it is good for ${codeSeconds} seconds.`
        : "The application sent a code that is not good, or not any more.";
    }
  }
}

function refreshCause({ reason }: Refused): string {
  switch (reason) {
    case "expired":
      return `The application's access was not used for too long: ${CONNECT_AGAIN}.`;
    case "ended":
      return `The application's access was ended: ${CONNECT_AGAIN}.`;
    case "replaced":
      return `The application sent a token that was replaced before: it lost its newest one, or somebody has a copy. Its access was ended: ${CONNECT_AGAIN}.`;
    case "other-client":
      return "The application sent a token that was given to another one.";
    case "provider-ended":
      return "The sign-in provider has ended the person's session: they have to sign in again.";
    case "too-old":
      return `The person signed in too long ago: ${CONNECT_AGAIN}.`;
    case "user-gone":
      return "The person may not use this gateway any more.";
    default:
      return `The application sent a token that is not good any more: ${CONNECT_AGAIN}.`;
  }
}
