/** Progress tokens belong to one hop: each hop puts its own in, and the original back. */

import { metaOf, withMeta } from "./envelope.ts";
import { isRequestId, type RequestId } from "./json-rpc.ts";
import type { Params } from "./wire.ts";

/**
 * Replaces the sender's token with that of the next hop, if the sender has requested progress.
 *
 * @returns the params for the next hop, and the sender's token, with its JSON type.
 */
export function replaceProgressToken(
  params: Params | undefined,
  token: RequestId,
): { readonly params: Params | undefined; readonly original: RequestId | undefined } {
  const meta = metaOf(params);
  const original = meta.progressToken;
  if (!isRequestId(original)) return { params, original: undefined };
  return { params: withMeta(params, { ...meta, progressToken: token }), original };
}
