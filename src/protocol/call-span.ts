/**
 * One request of a client on its way: what its servers, its record and its answer have to know of it. It
 * goes with the `Peer` that waits for the reply.
 */

import { randomTraceId } from "../lib/trace-ids.ts";
import type { JsonObject } from "./json-rpc.ts";
import type { Params } from "./message-members.ts";
import type { Era } from "./revisions.ts";
import type { Tracer } from "./tracer.ts";
import { type TraceContext, traceContextOf } from "./trace-context.ts";

/** The sender of a request. Plain data. */
interface Sender {
  readonly person?: string | undefined;
  /** The id of the person's application. */
  readonly application?: string | undefined;
}

export interface CallSpan extends Sender {
  readonly trace: TraceContext;
  /** The client's. */
  readonly era: Era;
  /** As the client calls itself. */
  readonly clientName: string | undefined;
  /** Absent for a request of which the platform records no spans. */
  readonly tracer?: Tracer | undefined;
  /** The name of its span, once that is open. */
  title?: string;
  /** Set when the request has reached a server. */
  serverEra?: Era;
  /** The time at servers so far, without that of questions to the client, in milliseconds. */
  upstreamMs?: number;
}

/** What a request comes with, beside its message. Plain data. */
export interface Arrival extends Sender {
  /** Of the headers; that of `_meta` goes before it. */
  readonly trace?: TraceContext | undefined;
}

interface ArrivedRequest extends Arrival {
  readonly tracer?: Tracer | undefined;
  readonly params: Params | undefined;
  readonly era: Era;
  readonly clientInfo: JsonObject | undefined;
}

export function startSpan(request: ArrivedRequest): CallSpan {
  const { params, trace, era, clientInfo, person, application, tracer } = request;
  const name = clientInfo?.["name"];
  return {
    trace: traceContextOf(params, trace) ?? newTrace(tracer),
    era,
    person,
    application,
    clientName: typeof name === "string" ? name : undefined,
    tracer,
  };
}

/** Sampled: the gateway writes a line about each call. */
export function newTrace(tracer: Tracer | undefined): TraceContext {
  const traceId = tracer?.traceId ?? randomTraceId();
  return { traceId, flags: "01", isCallers: false };
}

/** The same request at one of several servers: what they do is told apart. */
export function forkSpan<T extends CallSpan | undefined>(span: T): T {
  return span === undefined ? span : { ...span };
}

/** Notes a request to a server that has ended. */
export function noteUpstream(span: CallSpan | undefined, era: Era, ms: number): void {
  if (span === undefined) return;
  span.serverEra = era;
  span.upstreamMs = (span.upstreamMs ?? 0) + ms;
}
