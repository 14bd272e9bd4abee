/**
 * Decides when a key for session ids is replaced and when it is deleted. No timer runs: the rule is
 * applied at each read of the keys, so a key may be replaced late.
 */

import { toBase64Url } from "../lib/base64url.ts";
import { KEY_BYTES } from "../lib/seal.ts";

const DAY_MS = 86_400_000;
const ROTATION_MS = 30 * DAY_MS;
/**
 * An isolate that read the keys just before a rotation keeps using them: for minutes, or until it can read
 * newer ones. A key that is kept too long costs a hundred bytes; a key that is deleted too early costs
 * every session that it has sealed.
 */
const MARGIN_MS = 30 * DAY_MS;

export interface StoredKey {
  /** Base64url of 32 random bytes. */
  readonly material: string;
  readonly createdAt: number;
}

/**
 * @param keys newest first. The first one seals; all of them open.
 * @param now milliseconds since 1970.
 * @param lifeMs the life of a session id.
 * @returns the remaining keys, with a new one in front when it is due; `keys` itself when nothing
 *   changes.
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
