/**
 * A token that its application gives back (RFC 7009): a refresh token takes the grant and all that
 * was issued under it along, an access token goes alone. Of what was not there, or was another
 * application's, nothing changes and nothing is told.
 */

import { hasAccessToken } from "./grant-state.ts";
import {
  type GrantTokenContext,
  endGrant,
  stateOf,
  type GrantTokenRequest,
} from "./grant-token-request.ts";

export async function revokeToken(
  grantContext: GrantTokenContext,
  tokenRequest: GrantTokenRequest,
): Promise<Response> {
  const { rows, audit, onEnded } = grantContext;
  const { user, grant, form, hash } = tokenRequest;
  const wasAccessToken = hasAccessToken(rows, tokenRequest, hash);
  const before = stateOf(grantContext, tokenRequest);
  const response = await grantContext.answer(tokenRequest.request);
  if (before !== undefined && stateOf(grantContext, tokenRequest) === undefined)
    endGrant(grantContext, tokenRequest);
  else if (wasAccessToken && !hasAccessToken(rows, tokenRequest, hash)) onEnded([grant]);
  else return response;
  audit.append(user, "token_revoked", { client: form.clientId });
  return response;
}
