/**
 * The keys that this isolate seals and opens session ids with. One instance is shared by all the
 * requests of an isolate, so it holds the ring as a value: on Workers a promise belongs to the
 * request that made it, and nobody else may wait for it.
 */

import { fromBase64Url } from "../lib/base64url.ts";
import { importKey, keyId, type Keyring, type SealKey } from "../lib/seal.ts";
import { sleep } from "../lib/sleep.ts";
import { logUnexpected } from "../observability/unexpected.ts";

/** Base64url of 32 bytes. */
type KeyMaterial = string;
/** Newest first: the first one seals. */
export type KeySource = () => Promise<readonly KeyMaterial[]>;

const TTL_MS = 600_000;
/** The source is asked for what it may not have at most this often. */
const PAUSE_MS = 10_000;
const POLL_MS = 20;
const MAX_POLLS = 100;

interface Held {
  readonly ring: Keyring;
  readonly expiresAt: number;
}

export class SessionKeys {
  readonly #source: KeySource;
  #held: Held | undefined;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  #isRefreshing = false;

  constructor(source: KeySource) {
    this.#source = source;
  }

  /** The keys to seal with. Rejects as the source does while there are none at all. */
  async keyring(): Promise<Keyring> {
    const held = this.#held;
    if (held === undefined) return this.#load();
    if (held.expiresAt > Date.now()) return held.ring;
    // One request asks for newer ones, and the others go on with what is there meanwhile.
    this.#hold(held.ring, PAUSE_MS);
    try {
      return await this.#load();
    } catch (error) {
      // Keys open ids for months, so a source that cannot be reached for a while does no harm.
      logUnexpected(error);
      return held.ring;
    }
  }

  /**
   * The keys to open an id with that was sealed with this one: another isolate may know a key that
   * is newer than what is held here. Anyone can make up a key's id, so the source is not asked for
   * each.
   */
  async keyringFor(id: string): Promise<Keyring> {
    const before = this.#held?.ring;
    const ring = await this.keyring();
    // What was loaded just now is as new as can be.
    if (ring.keys.has(id) || ring !== before) return ring;
    const now = Date.now();
    if (now - this.#refreshedAt >= PAUSE_MS) {
      this.#refreshedAt = now;
      return this.#refresh();
    }
    await this.#refreshed();
    return this.#held?.ring ?? ring;
  }

  async #refresh(): Promise<Keyring> {
    this.#isRefreshing = true;
    try {
      return await this.#load();
    } finally {
      this.#isRefreshing = false;
    }
  }

  /**
   * A client's first requests arrive together, so several may bring the same new key. They wait by
   * polling, and not for ever: a request that is cancelled never gets to say that it is done.
   */
  async #refreshed(): Promise<void> {
    const { signal } = new AbortController();
    for (let n = 0; n < MAX_POLLS; n++) {
      if (!this.#isRefreshing) return;
      await sleep(POLL_MS, signal);
    }
  }

  async #load(): Promise<Keyring> {
    const ring = await keyRing(await this.#source());
    this.#hold(ring, TTL_MS);
    return ring;
  }

  #hold(ring: Keyring, ttlMs: number): void {
    this.#held = { ring, expiresAt: Date.now() + ttlMs };
  }
}

async function keyRing(materials: readonly KeyMaterial[]): Promise<Keyring> {
  const entries = await Promise.all(
    materials.map(async (material): Promise<[string, SealKey]> => {
      const bytes = fromBase64Url(material) ?? new Uint8Array();
      return [await keyId(bytes), await importKey(bytes)];
    }),
  );
  const [current] = entries;
  if (current === undefined) throw new Error("There is no key to seal session ids with");
  return { currentId: current[0], keys: new Map(entries) };
}
