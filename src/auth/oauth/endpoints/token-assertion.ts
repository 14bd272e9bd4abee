/** The signed assertion in a request for a token, if there is one and it holds. */

import type { AuthContext } from "../../context/context.ts";
import { ASSERTION_TYPE, verifyClientAssertion } from "../../clients/client-assertion.ts";
import type { AssertionKeys } from "../../clients/document-keys.ts";
import type { TokenRequest } from "./token-request.ts";

export function hasAssertion({ params }: TokenRequest): boolean {
  return params.has("client_assertion") || params.has("client_assertion_type");
}

/** @returns whether the client of the request has signed it with one of these keys. */
export async function isSigned(
  context: AuthContext,
  { params, form }: TokenRequest,
  keys: AssertionKeys,
): Promise<boolean> {
  if (params.get("client_assertion_type") !== ASSERTION_TYPE) return false;
  const { origin, clientKeys, store } = context;
  const outcome = await verifyClientAssertion(params.get("client_assertion") ?? "", {
    clientId: form.clientId,
    keys,
    clientKeys,
    ...{ issuer: origin, tokenEndpoint: `${origin}/token`, now: Date.now() },
    reserve: (mark, expiresAt) =>
      store.ephemeral(mark).rows.reserve(`client-assertion-jti:${mark}`, expiresAt),
  });
  return outcome.kind === "verified";
}
