/** A response that ends with the token of whoever asked for it. */

import { endable } from "../../lib/endable.ts";
import { mediaType } from "../../lib/media-type.ts";
import { type Lease, leaseEnds } from "./lease.ts";

/**
 * Only streams of events are long enough to need it. The client sees a clean end, as if a proxy
 * had closed the connection; what it does then, like resuming, is refused with the token.
 */
export function leased(response: Response, lease: Lease): Response {
  const isStream = mediaType(response.headers.get("content-type")) === "text/event-stream";
  if (!isStream || response.body === null) return response;
  const over = new AbortController();
  const { body, end } = endable(response.body, () => over.abort(new Error("The stream is over")));
  leaseEnds(lease, over.signal).then(end, () => undefined);
  return new Response(body, response);
}
