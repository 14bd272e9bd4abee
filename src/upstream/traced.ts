/**
 * A request to a server, in the trace of the client's request: with the same trace id, the caller's sampled flag,
 * and a parent id that no other request has. `docs/design/telemetry.md` says why a context in `_meta` goes only
 * where the client has sent one.
 */

import { randomSpanId } from "../lib/trace-ids.ts";
import type { CallSpan } from "../protocol/call-span.ts";
import { metaOf, withMeta } from "../protocol/envelope.ts";
import type { Call } from "../protocol/exchange.ts";
import { traceHeaders, type TraceHeaders, withoutTraceKeys } from "../protocol/trace-context.ts";

interface TracedCall {
  readonly call: Call;
  readonly headers: TraceHeaders | undefined;
}

/**
 * @param span of the client's request; what the gateway asks on its own is in no trace.
 * @param parentId of the platform's span for this request, if it has one whose id it tells.
 */
export function traced(call: Call, span: CallSpan | undefined, parentId?: string): TracedCall {
  const meta = metaOf(call.params);
  // The caller's own parent id and baggage are for the gateway alone.
  const own = withoutTraceKeys(meta);
  const headers = span && traceHeaders(span.trace, parentId ?? randomSpanId());
  if (span?.trace.isCallers === true) {
    return { call: { ...call, params: withMeta(call.params, { ...own, ...headers }) }, headers };
  }
  if (own === meta) return { call, headers };
  return { call: { ...call, params: withMeta(call.params, own) }, headers };
}
