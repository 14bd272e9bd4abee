/** Attributes results to their servers at an endpoint of several servers. */

import { metaOf } from "../protocol/envelope.ts";
import type { JsonObject, Reply } from "../protocol/json-rpc.ts";
import type { Endpoint } from "./endpoint.ts";

/** The key in `_meta` for the slug of the server that a result comes from. */
export const SERVER_KEY = "edgeway/server";

/** Sets the server's slug in a result's `_meta`, and replaces any value that the server put there. */
export function attributed(result: JsonObject, slug: string): JsonObject {
  return { ...result, _meta: { ...metaOf(result), [SERVER_KEY]: slug } };
}

/** Attributes a reply at a merged endpoint. Results of an endpoint's only server stay as they are. */
export function attributedAt(
  { isMerged }: Pick<Endpoint, "isMerged">,
  slug: string,
  reply: Reply,
): Reply {
  return isMerged && "result" in reply ? { result: attributed(reply.result, slug) } : reply;
}
