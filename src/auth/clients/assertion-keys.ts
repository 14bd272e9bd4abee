/**
 * The public keys that verify the assertions of clients. A key set at a URL is loaded through the
 * egress guard and held for five minutes. A signature that no held key verifies causes one reload a
 * minute at most, because anyone can name a key that does not exist. It holds values only, so one
 * instance serves all requests of an isolate.
 */

import { BoundedCache } from "../../lib/bounded-cache.ts";
import { type EgressPolicy, loadJson, type LoadOptions } from "../../lib/egress.ts";
import { type AssertionKeys, isJwkSet, type JwkSet } from "./document-keys.ts";

const MAX_SETS = 256;
const HELD_MS = 300_000;
const PAUSE_MS = 60_000;
const MAX_BYTES = 64 * 1024;
const TIMEOUT_MS = 10_000;

export class ClientKeys {
  readonly #fetch: LoadOptions["fetch"];
  readonly #policy: EgressPolicy;
  readonly #held = new BoundedCache<JwkSet>({ maxEntries: MAX_SETS, ttlMs: HELD_MS });
  /** The key sets that were loaded less than `PAUSE_MS` ago, and those whose load failed. */
  readonly #asked = new BoundedCache<true>({ maxEntries: MAX_SETS, ttlMs: PAUSE_MS });
  readonly #failed = new BoundedCache<true>({ maxEntries: MAX_SETS, ttlMs: PAUSE_MS });

  constructor({ fetch, policy }: Pick<LoadOptions, "fetch" | "policy">) {
    this.#fetch = fetch;
    this.#policy = policy;
  }

  /** @returns `undefined` when the keys are not available now. */
  async of({ jwks, jwksUri }: AssertionKeys): Promise<JwkSet | undefined> {
    if (jwks !== undefined) return jwks;
    const held = this.#held.get(jwksUri);
    if (held !== undefined || this.#failed.get(jwksUri) === true) return held;
    return this.#load(jwksUri);
  }

  /**
   * @returns a newly loaded key set; `undefined` when there is none that is newer, because it was loaded
   *   just now; "unavailable" when the load failed, now or less than `PAUSE_MS` ago.
   */
  async newer({ jwksUri }: AssertionKeys): Promise<JwkSet | "unavailable" | undefined> {
    if (jwksUri === undefined) return undefined;
    if (this.#failed.get(jwksUri) === true) return "unavailable";
    if (this.#asked.get(jwksUri) === true) return undefined;
    return (await this.#load(jwksUri)) ?? "unavailable";
  }

  async #load(address: string): Promise<JwkSet | undefined> {
    this.#asked.set(address, true);
    const loaded = await loadJson(new URL(address), {
      fetch: this.#fetch,
      policy: this.#policy,
      maxBytes: MAX_BYTES,
      timeoutMs: TIMEOUT_MS,
    });
    if (loaded.kind === "failed" || !isJwkSet(loaded.value)) {
      this.#failed.set(address, true);
      return undefined;
    }
    this.#held.set(address, loaded.value);
    this.#failed.delete(address);
    return loaded.value;
  }
}
