/**
 * The keys that sign identity assertions (ES256, RFC 7518 section 3.4). The registry stores them with the
 * private part sealed; the Workers make, seal and open them. No timer runs: the schedule is applied at each
 * reading, so a key may be replaced late.
 *
 * Verifiers cache the published keys, so a key is published for a day before it signs, and for two days
 * after its successor has taken over.
 */

import type { JWK } from "jose";

import { type Keyring, seal, unseal } from "../../lib/seal.ts";

/** Plain data, newest first in a list. */
export interface StoredIdentityKey {
  readonly kid: string;
  /** Sealed: `{ public, private }`, both as JWK. */
  readonly sealed: string;
  readonly public: JWK;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** The registry of the gateway, which has the last word on which keys there are. */
export interface IdentityKeyStore {
  identityKeys(): Promise<readonly StoredIdentityKey[]>;
  /**
   * Adds a key if one is due, and else leaves the keys as they are: two Workers may offer one at once.
   *
   * @param lost ids of keys that cannot be opened any more: the secret that sealed them has changed.
   * @returns the keys that there are now.
   */
  addIdentityKey(
    key: StoredIdentityKey,
    lost: readonly string[],
  ): Promise<readonly StoredIdentityKey[]>;
}

export interface IdentitySigner {
  readonly kid: string;
  readonly key: CryptoKey;
}

const DAY_MS = 86_400_000;
const ANNOUNCED_MS = DAY_MS;
const KEPT_MS = 2 * DAY_MS;
const ROTATION_MS = 30 * DAY_MS;
const PURPOSE = "identity-key";
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256" };
const KID_BYTES = 8;
/** The keys held here are read again after this. */
const TTL_MS = 600_000;

/** True when a new key has to be made. @param keys newest first. */
export function isKeyDue([newest]: readonly StoredIdentityKey[], now: number): boolean {
  return newest === undefined || now - newest.createdAt > ROTATION_MS - ANNOUNCED_MS;
}

/** The keys whose assertions may still be verified, or will be: without those replaced long ago. */
export function usefulKeys(
  keys: readonly StoredIdentityKey[],
  now: number,
): readonly StoredIdentityKey[] {
  return keys.filter((_, n) => {
    const successor = keys[n - 1];
    return successor === undefined || now - successor.createdAt <= ANNOUNCED_MS + KEPT_MS;
  });
}

/** @returns the keys with `added` in front if one is due; else without those that are lost. */
export function withIdentityKey(
  keys: readonly StoredIdentityKey[],
  added: StoredIdentityKey,
  lost: readonly string[],
  now: number,
): readonly StoredIdentityKey[] {
  const kept = keys.filter(({ kid }) => !lost.includes(kid));
  if (!isKeyDue(kept, now)) return kept;
  return usefulKeys([{ ...added, createdAt: now }, ...kept], now);
}

/** The key that signs: the newest one that was announced for long enough, or the only one. */
export function signingKeyOf(
  keys: readonly StoredIdentityKey[],
  now: number,
): StoredIdentityKey | undefined {
  return keys.find(({ createdAt }) => now - createdAt >= ANNOUNCED_MS) ?? keys.at(-1);
}

interface Held {
  readonly keys: readonly StoredIdentityKey[];
  readonly signer: IdentitySigner;
  readonly readAt: number;
}

/** The members that say what the public key is, and no other (RFC 7518 section 6.2.1). */
function publicPartOf({ kty, crv = "", x = "", y = "" }: JsonWebKey): JWK {
  return { kty, crv, x, y };
}

/** The keys as one isolate holds them. */
export class IdentityKeys {
  readonly #store: () => IdentityKeyStore;
  readonly #ring: () => Promise<Keyring>;
  readonly #now: () => number;
  #held: Held | undefined;

  /** @param store for one call. */
  constructor(
    store: () => IdentityKeyStore,
    ring: () => Promise<Keyring>,
    now: () => number = () => Date.now(),
  ) {
    this.#store = store;
    this.#ring = ring;
    this.#now = now;
  }

  async signer(): Promise<IdentitySigner> {
    return (await this.#hold()).signer;
  }

  /** The public keys of all keys whose assertions may still be in use (RFC 7517 section 5). */
  async published(): Promise<readonly JWK[]> {
    const { keys } = await this.#hold();
    return usefulKeys(keys, this.#now()).map(({ kid, public: key }) => ({
      ...key,
      kid,
      alg: "ES256",
      use: "sig",
    }));
  }

  async #hold(): Promise<Held> {
    const held = this.#held;
    if (held !== undefined && this.#now() - held.readAt < TTL_MS) return held;
    const readAt = this.#now();
    const keys = await this.#current();
    const stored = signingKeyOf(keys, readAt);
    const key = stored && (await this.#open(stored));
    if (stored === undefined || key === undefined) {
      throw new Error("The key of identity assertions cannot be opened");
    }
    return (this.#held = { keys, signer: { kid: stored.kid, key }, readAt });
  }

  /** The stored keys, after a new one was made if one is due. */
  async #current(): Promise<readonly StoredIdentityKey[]> {
    const keys = await this.#store().identityKeys();
    const opened = await Promise.all(keys.map((key) => this.#open(key)));
    const lost = keys.filter((_, n) => opened[n] === undefined).map(({ kid }) => kid);
    if (lost.length === 0 && !isKeyDue(keys, this.#now())) return keys;
    return this.#store().addIdentityKey(await this.#make(), lost);
  }

  async #make(): Promise<StoredIdentityKey> {
    const pair = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
    if (!("privateKey" in pair)) throw new TypeError("ECDSA makes a pair of keys");
    const privateKey = (await crypto.subtle.exportKey("jwk", pair.privateKey)) as JsonWebKey;
    const kid = Array.from(crypto.getRandomValues(new Uint8Array(KID_BYTES)), (byte) =>
      byte.toString(16).padStart(2, "0"),
    ).join("");
    const sealed = await seal(await this.#ring(), `${PURPOSE} ${kid}`, privateKey);
    return { kid, sealed, public: publicPartOf(privateKey), createdAt: this.#now() };
  }

  /** @returns `undefined` when the secret that sealed the key has changed. */
  async #open({ kid, sealed }: StoredIdentityKey): Promise<CryptoKey | undefined> {
    const jwk = await unseal(await this.#ring(), `${PURPOSE} ${kid}`, sealed);
    if (jwk === undefined) return undefined;
    return crypto.subtle.importKey("jwk", jwk as JsonWebKey, ALGORITHM, false, ["sign"]);
  }
}
