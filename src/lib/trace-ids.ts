/** The ids of a trace and of its spans. */

/** @returns 32 hexadecimal digits, not all zero; the last 56 bits are random (Trace Context, Level 2). */
export function randomTraceId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

/** @returns 16 hexadecimal digits, not all zero, of which 62 bits are random. */
export function randomSpanId(): string {
  return crypto.randomUUID().slice(19).replace("-", "");
}
