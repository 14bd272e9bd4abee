/**
 * FNV-1a of 64 bits: small, fast and synchronous, where `crypto.subtle` is none of it. Collisions are
 * easily made on purpose, so whoever uses it has to cope with them.
 */

/**
 * Over UTF-16 code units, so that also halves of surrogate pairs count. For ASCII, it is the
 * published function over bytes.
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
