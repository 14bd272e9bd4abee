/**
 * FNV-1a of 64 bits: small, fast and synchronous, unlike `crypto.subtle`. Attackers can make collisions,
 * so its callers have to tolerate them.
 */

/**
 * Hashes UTF-16 code units, so that lone surrogates count as well. For ASCII, it equals the published
 * function over bytes.
 *
 * @returns 0 to 2^64 - 1.
 */
export function fnv1a64(text: string): bigint {
  // The offset basis, in halves: a BigInt for each step takes ten times as long.
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (let at = 0; at < text.length; at += 1) {
    low = (low ^ text.charCodeAt(at)) >>> 0;
    // Times the prime, which is 2^40 + 0x1b3. The product has at most 41 bits.
    const product = low * 0x1b3;
    high = (Math.imul(high, 0x1b3) + (low << 8) + Math.floor(product / 2 ** 32)) >>> 0;
    low = product >>> 0;
  }
  return (BigInt(high) << 32n) | BigInt(low);
}

/** @returns 0 to `count` - 1: which of a fixed number of objects a key belongs to. */
export function shardOf(key: string, count: number): number {
  return Number(fnv1a64(key) % BigInt(count));
}
