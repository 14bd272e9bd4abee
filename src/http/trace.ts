/** The trace of a request in the headers of HTTP: where it comes from, and where its answer names it. */

import { randomSpanId } from "../lib/trace-ids.ts";
import { type Arrival, newTrace } from "../protocol/call-span.ts";
import type { Params } from "../protocol/message-members.ts";
import {
  readTraceContext,
  traceContextOf,
  type TraceContext,
  writeTraceParent,
} from "../protocol/trace-context.ts";
import type { FrontDoorContext } from "./front-door.ts";

/** @returns `undefined` without a valid `traceparent`. */
export function traceIn({ headers }: Request): TraceContext | undefined {
  const parent = headers.get("traceparent");
  return parent === null ? undefined : readTraceContext(parent, headers.get("tracestate"));
}

/** @param params of the first request of a POST, whose trace the answer names. */
export function arrivalOf(
  {
    request,
    person,
    application,
    tracer,
  }: Pick<FrontDoorContext, "request" | "person" | "application" | "tracer">,
  params: Params | undefined,
): Arrival & { readonly trace: TraceContext } {
  const trace = traceContextOf(params, traceIn(request)) ?? newTrace(tracer?.());
  return { person, application, trace };
}

/** Names the trace in `traceresponse` (W3C, Trace Context HTTP Response Headers, a draft). */
export function answered(response: Response, trace: TraceContext): Response {
  response.headers.set("traceresponse", writeTraceParent(trace, randomSpanId()));
  return response;
}
