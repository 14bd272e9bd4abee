/**
 * The ids of a trace and of its spans. They are names and no secrets, and each call needs several: `Math.random`
 * takes a tenth of the time of `crypto`.
 */

/** @returns 32 hexadecimal digits, not all zero. */
export function randomTraceId(): string {
  return word() + word() + randomSpanId();
}

/** @returns 16 hexadecimal digits, not all zero. */
export function randomSpanId(): string {
  return word() + word(1);
}

function word(least = 0): string {
  return (Math.floor(Math.random() * (2 ** 32 - least)) + least).toString(16).padStart(8, "0");
}
