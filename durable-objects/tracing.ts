/** The spans of the platform, if this version of it has them. */

import * as workers from "cloudflare:workers";

import { idsOf, type NativeSpan, type Tracer } from "../src/protocol/tracer.ts";

interface Tracing {
  getActiveSpan?(): (NativeSpan & { readonly isTraced?: boolean }) | undefined;
  enterSpan<T>(name: string, run: (span: NativeSpan) => T): T;
}

// Not a named import: an earlier version without the name would refuse the whole module.
const tracing = (workers as { readonly tracing?: Tracing }).tracing;

/** @returns `undefined` for a request that is not sampled, and where the platform records no spans. */
export function tracerHere(): Tracer | undefined {
  const active = tracing?.getActiveSpan?.();
  if (tracing === undefined || active?.isTraced !== true) return undefined;
  return {
    traceId: idsOf(active)?.traceId,
    enterSpan: (name, run) => tracing.enterSpan(name, run),
  };
}
