/** The port to what records spans: the platform, for the requests that it samples. */

export interface NativeSpan {
  setAttribute(name: string, value: string | number | boolean): unknown;
  /** Absent on platforms that do not tell the ids. */
  spanContext?(): { readonly traceId: string; readonly spanId: string };
}

/** Of one request that is sampled. */
export interface Tracer {
  /** As the platform has it; `undefined` where it does not tell. */
  readonly traceId: string | undefined;
  /** Runs `run` in a span that is active meanwhile, and ends when its promise settles. */
  enterSpan<T>(name: string, run: (span: NativeSpan) => T): T;
}

const ZERO = /^0*$/;

/** @returns the ids of a span; `undefined` where the platform does not tell them. */
export function idsOf(
  span: NativeSpan,
): { readonly traceId: string; readonly spanId: string } | undefined {
  const ids = span.spanContext?.();
  return ids === undefined || ZERO.test(ids.traceId) || ZERO.test(ids.spanId) ? undefined : ids;
}
