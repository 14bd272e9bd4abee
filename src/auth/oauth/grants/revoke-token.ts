/**
 * Revokes a token for its application (RFC 7009): a refresh token ends the grant and all tokens
 * that were issued under it, an access token ends alone. A token that does not exist, or is another
 * application's, changes nothing, and the response does not reveal that.
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
