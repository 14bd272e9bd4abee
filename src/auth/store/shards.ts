/**
 * Maps each record to the object that holds it. The number of objects is fixed: most of these keys
 * come from strangers (a bearer token, a client id), and made-up keys must not create objects. A
 * record is found by hashing its key, so the counts cannot change without moving every record.
 */

/**
 * - `u`: everything of one user: grants, tokens, browser sessions, API keys, the audit log;
 * - `c`: clients, which belong to no user;
 * - `t`: records that live for minutes: attempts to sign in, rate limits.
 */
const SHARDS = { u: 32, c: 8, t: 8 } as const;

export type ShardKind = keyof typeof SHARDS;

/** @returns the name of the object that holds the records of this key. */
export function shardName(kind: ShardKind, key: string): string {
  return `${kind}${hash(key) % SHARDS[kind]}`;
}

export function allShards(kind: ShardKind): readonly string[] {
  return Array.from({ length: SHARDS[kind] }, (_, index) => `${kind}${index}`);
}

/**
 * Makes a key that leads to the given object, so that a token alone shows where its record is. One
 * key in as many as there are objects does, so a few dozen are drawn.
 *
 * @param draw makes a new random key each time.
 */
export function drawFor(shard: string, kind: ShardKind, draw: () => string): string {
  for (;;) {
    const key = draw();
    if (shardName(kind, key) === shard) return key;
  }
}

/** FNV-1a: spreads keys evenly. It keeps no secret, and none depends on it. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) {
    value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  }
  return value;
}
