/**
 * When a key that seals session ids is replaced, and when it is forgotten. Nothing runs for it: the
 * rule is applied whenever somebody asks for the keys, so a key may be replaced late.
 */

import { toBase64Url } from "../lib/base64url.ts";
import { KEY_BYTES } from "../lib/seal.ts";

const DAY_MS = 86_400_000;
const ROTATION_MS = 30 * DAY_MS;
/**
 * Whoever was given the keys just before a rotation goes on with them: for minutes, or for as long
 * as nobody gives it newer ones. A key that is kept too long costs a hundred bytes, and one that is
 * dropped too early costs every session it has sealed.
 */
const MARGIN_MS = 30 * DAY_MS;

export interface StoredKey {
  /** Base64url of 32 random bytes. */
  readonly material: string;
  readonly createdAt: number;
}

/**
 * @param keys newest first. The first one seals; all of them open.
 * @param lifeMs how long a session id is served after it was sealed.
 * @returns the keys that are left, with a new one in front when it is time; `keys` itself when
 *   there is nothing to change.
 */
export function rotate(
  keys: readonly StoredKey[],
  now: number,
  lifeMs: number,
): readonly StoredKey[] {
  const isOlder = ({ createdAt }: StoredKey, ms: number): boolean => now - createdAt > ms;
  const [newest] = keys;
  const isDue = newest === undefined || isOlder(newest, ROTATION_MS);
  const needed = keys.filter((key) => !isOlder(key, ROTATION_MS + MARGIN_MS + lifeMs));
  if (isDue) return [createKey(now), ...needed];
  return needed.length === keys.length ? keys : needed;
}

function createKey(now: number): StoredKey {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return { material: toBase64Url(bytes), createdAt: now };
}
