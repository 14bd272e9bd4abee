/** What the sign-in page shows of a question. */

import type { IdentityProvider } from "../auth/identity/provider.ts";
import type { Complaint, SignInQuestion } from "../auth/sign-in/sign-in-outcome.ts";
import { PATHS } from "./view/paths.ts";
import type { OwnerForm, SignInView } from "./view/sign-in-view.ts";

export function signInModel(
  { attempt, complaint }: SignInQuestion,
  providers: readonly IdentityProvider[],
): SignInView {
  const { handle, content } = attempt;
  const action = PATHS.login;
  return {
    client: content.kind === "authorize" ? { name: content.client.name } : undefined,
    handle,
    providers: providers
      .filter(({ kind }) => kind === "redirect")
      .map(({ name, label }) => ({ name, label, action })),
    owner: providers.some(({ kind }) => kind === "code")
      ? { action, ...complaintIn(complaint) }
      : undefined,
  };
}

function complaintIn(complaint: Complaint | undefined): Omit<OwnerForm, "action"> {
  switch (complaint?.kind) {
    case "wrong-code":
      return { error: "That is not the code.", waitSeconds: undefined };
    case "wait":
      return { error: undefined, waitSeconds: complaint.seconds };
    case "not-set-up":
      return {
        error:
          "There is no code yet. Whoever runs this gateway finds a link that makes one in its log.",
        waitSeconds: undefined,
      };
    case undefined:
      return { error: undefined, waitSeconds: undefined };
  }
}
