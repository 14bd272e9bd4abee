/**
 * A token that its application gives back (RFC 7009): a refresh token takes the grant and all that
 * was issued under it along, an access token goes alone. Of what was not there, or was another
 * application's, nothing changes and nothing is told.
 */

import { hasAccessToken } from "./grant-state.ts";
import { type Desk, endGrant, stateOf, type Visit } from "./visit.ts";

export async function revokeToken(desk: Desk, visit: Visit): Promise<Response> {
  const { rows, audit, onEnded } = desk;
  const { user, grant, form, hash } = visit;
  const wasAccessToken = hasAccessToken(rows, visit, hash);
  const before = stateOf(desk, visit);
  const response = await desk.answer(visit.request);
  if (before !== undefined && stateOf(desk, visit) === undefined) endGrant(desk, visit);
  else if (wasAccessToken && !hasAccessToken(rows, visit, hash)) onEnded([grant]);
  else return response;
  audit.append(user, "token_revoked", { client: form.clientId });
  return response;
}
