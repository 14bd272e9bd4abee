/** Says at an endpoint of several servers which of them something comes from. */

import { metaOf } from "../protocol/envelope.ts";
import type { JsonObject } from "../protocol/json-rpc.ts";

/** In `_meta` of what comes from one server of several: its slug. */
export const SERVER_KEY = "edgeway/server";

/** The result under its server's name, whatever the server itself calls it there. */
export function attributed(result: JsonObject, slug: string): JsonObject {
  return { ...result, _meta: { ...metaOf(result), [SERVER_KEY]: slug } };
}
