/** Says at an endpoint of several servers which of them something comes from. */

import { metaOf } from "../protocol/envelope.ts";
import type { JsonObject, Reply } from "../protocol/json-rpc.ts";
import type { Endpoint } from "./endpoint.ts";

/** In `_meta` of what comes from one server of several: its slug. */
export const SERVER_KEY = "edgeway/server";

/** The result under its server's name, whatever the server itself calls it there. */
export function attributed(result: JsonObject, slug: string): JsonObject {
  return { ...result, _meta: { ...metaOf(result), [SERVER_KEY]: slug } };
}

/** A reply of a server, or in its place. A server alone is not named: its results are its own. */
export function attributedAt(
  { isMerged }: Pick<Endpoint, "isMerged">,
  slug: string,
  reply: Reply,
): Reply {
  return isMerged && "result" in reply ? { result: attributed(reply.result, slug) } : reply;
}
