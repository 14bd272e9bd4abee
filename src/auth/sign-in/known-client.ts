/** Finds the application that a request names, or the problem page when there is none. */

import type { AuthContext } from "../context/context.ts";
import { claimedId } from "../trace/mask.ts";
import type { AuthorizeReading } from "../oauth/endpoints/authorize-request.ts";
import { findClient, type FoundClient } from "./asking-client.ts";
import { problem, type Problem } from "./ending.ts";
import { limitKeyOf } from "./sign-in-limits.ts";

type Read = Extract<AuthorizeReading, { readonly kind: "read" }>;

export async function knownClient(
  context: AuthContext,
  request: Request,
  { clientId, redirectUri }: Read,
): Promise<FoundClient | Problem> {
  const found = await findClient(context, clientId, limitKeyOf(context, request));
  const step = { kind: "ask_refused", ...claimedId(clientId), redirectUri } as const;
  switch (found.kind) {
    case "client":
      return found;
    case "unknown": {
      const reference = context.trace({ ...step, reason: "unknown-client" });
      return problem("unknown-client", { reference });
    }
    case "refused": {
      const { sentence, reason: detail } = found;
      // Only the operator learns how an address answered.
      const reference = context.trace({ ...step, reason: "document", detail });
      return problem("client-document", { reference, sentence });
    }
    case "busy": {
      const { retryAfterSeconds } = found;
      const reference = context.trace({ ...step, reason: "limited" });
      return problem("limited", { reference, retryAfterSeconds });
    }
  }
}
