/** Why a person was not signed in: the identity provider's word, or what it says itself. */

import type { StepOf } from "../trace/trace.ts";

export function signInCause({ provider, reason, detail }: StepOf<"sign_in_refused">): string {
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
