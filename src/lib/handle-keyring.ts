/** The key that only a handle gives: a record sealed with it opens for nobody but whoever brings the handle. */

import { importKey, type Keyring } from "./seal.ts";

/**
 * @param context what is sealed: a handle gives another key for each.
 * @param handle of 128 random bits or more, so one hash of it is a key that cannot be guessed.
 */
export async function handleKeyring(context: string, handle: string): Promise<Keyring> {
  const bytes = new TextEncoder().encode(`${context}:${handle}`);
  const key = await importKey(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
  return { currentId: "handle", keys: new Map([["handle", key]]) };
}
