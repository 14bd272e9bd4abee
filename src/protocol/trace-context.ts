/**
 * W3C Trace Context (Level 1, and of Level 2 the flag for random ids): the grammar of `traceparent` and
 * `tracestate`, which stand in `params._meta` (SEP-414) or in headers.
 */

import { metaOf } from "./envelope.ts";
import type { JsonObject } from "./json-rpc.ts";
import type { Params } from "./message-members.ts";

/** The trace that a request belongs to. Plain data. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Two hexadecimal digits. */
  readonly flags: string;
  /** The value of `tracestate`, as the caller sent it. */
  readonly state?: string;
  /** The caller has sent it; otherwise the gateway has begun the trace. */
  readonly isCallers: boolean;
}

export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string;
}

const PARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const ZERO = /^0+$/;
/** The bits whose meaning is known: sampled, and random (Level 2). A sender MUST set others to zero. */
const KNOWN_FLAGS = 0b11;

const MAX_STATE_CHARS = 512;
const MAX_STATE_MEMBERS = 32;
const MEMBER =
  /^(?:[a-z][\w\-*/]{0,255}|[a-z\d][\w\-*/]{0,240}@[a-z][\w\-*/]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** @returns `undefined` for values that the grammar does not have: the trace begins anew (section 4.3). */
export function readTraceContext(parent: unknown, state: unknown): TraceContext | undefined {
  if (typeof parent !== "string") return undefined;
  const [, version, traceId = "", parentId = "", flags = "", more] = PARENT.exec(parent) ?? [];
  if (version === undefined || version === "ff") return undefined;
  // A later version may have more members; this one has none.
  if (version === "00" && more !== undefined) return undefined;
  if (ZERO.test(traceId) || ZERO.test(parentId)) return undefined;
  const known = (Number.parseInt(flags, 16) & KNOWN_FLAGS).toString(16).padStart(2, "0");
  const trace = { traceId, flags: known, isCallers: true };
  return isTraceState(state) ? { ...trace, state } : trace;
}

/** The bound is the length that a sender SHOULD pass on at least (section 3.3.1.5). */
function isTraceState(state: unknown): state is string {
  if (typeof state !== "string" || state.length > MAX_STATE_CHARS) return false;
  const members = state
    .split(",")
    .map((member) => member.replace(/^[\t ]+|[\t ]+$/g, ""))
    .filter((member) => member !== "");
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf("="))));
  const isUnique = keys.size === members.length && members.length <= MAX_STATE_MEMBERS;
  return members.length > 0 && isUnique && members.every((member) => MEMBER.test(member));
}

/** The context of a request: in its `_meta` (SEP-414), else in the headers that it came with. */
export function traceContextOf(
  params: Params | undefined,
  headers: TraceContext | undefined,
): TraceContext | undefined {
  const { traceparent, tracestate } = metaOf(params);
  if (traceparent === undefined) return headers;
  return readTraceContext(traceparent, tracestate) ?? headers;
}

/** @param parentId 16 hexadecimal digits, not all zero. */
export function writeTraceParent({ traceId, flags }: TraceContext, parentId: string): string {
  return `00-${traceId}-${parentId}-${flags}`;
}

/** The context for one request to a server. */
export function traceHeaders(trace: TraceContext, parentId: string): TraceHeaders {
  const traceparent = writeTraceParent(trace, parentId);
  const { state } = trace;
  return state === undefined ? { traceparent } : { traceparent, tracestate: state };
}

/** The keys of `_meta` that are reserved for a trace. Baggage may hold private data, and goes no further. */
export function withoutTraceKeys<T extends JsonObject>(meta: T): T {
  if (!("traceparent" in meta) && !("tracestate" in meta) && !("baggage" in meta)) return meta;
  const { traceparent: _, tracestate: _state, baggage: _baggage, ...rest } = meta;
  return rest as unknown as T;
}
