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

/** `toString(16)` takes six times as long for numbers of 32 bits, and a call needs eight of them. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function word(least = 0): string {
  const bits = Math.floor(Math.random() * (2 ** 32 - least)) + least;
  return hex(bits >>> 24) + hex(bits >>> 16) + hex(bits >>> 8) + hex(bits);
}

/** @returns the lowest byte. */
function hex(bits: number): string {
  return HEX[bits & 0xff] ?? "";
}
