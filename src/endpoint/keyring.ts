/**
 * The keys with which this isolate seals and opens session ids. All requests of an isolate share one
 * instance, so it holds the keyring as a value: on Workers, a promise belongs to the request that made
 * it, and no other request may await it.
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
/** The shortest time between two requests to the source for an unknown key. */
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

  /** The keys to seal with. @throws the source's error while no keys were ever loaded. */
  async keyring(): Promise<Keyring> {
    const held = this.#held;
    if (held === undefined) return this.#load();
    if (held.expiresAt > Date.now()) return held.ring;
    // One request loads newer keys; the others use the held ones meanwhile.
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
   * The keys to open a token that was sealed with the key of this id: another isolate may have a newer key
   * than those held here. Anyone can make up a key id, so the source is not asked for each.
   */
  async keyringFor(id: string): Promise<Keyring> {
    const before = this.#held?.ring;
    const ring = await this.keyring();
    // Keys that were loaded just now are the newest.
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
   * A client's first requests arrive together, so several may carry the same new key id. They wait by
   * polling, with a limit: a request that is cancelled never clears `#isRefreshing`.
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
