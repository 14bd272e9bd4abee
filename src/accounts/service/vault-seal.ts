/**
 * Seals what a vault keeps. The purpose of a row names its owner, its server, its account and the issuer,
 * so a row that is copied to another person, server or issuer does not open there.
 */

import { type Keyring, seal, sealedWith, unseal } from "../../lib/seal.ts";
import type { Account } from "../account.ts";

/** What is secret of an account. */
export interface AccountSecrets {
  readonly accessToken?: string;
  readonly refreshToken?: string;
  readonly apiKey?: string;
  /** Of the client that the tokens are bound to, where the gateway has registered it. */
  readonly clientSecret?: string;
}

export interface Opened<Value> {
  readonly value: Value;
  /** It was sealed with a key that is not the current one: it is to be sealed anew. */
  readonly isOld: boolean;
}

/** Where a sealed text belongs: it opens nowhere else. */
type Place = readonly (string | number)[];

export class VaultSeal {
  readonly #owner: string;
  readonly #keys: () => Promise<Keyring>;
  #ring: Keyring | undefined;
  /** The places of secrets that did not open. They stay shut: an object has the same keys for its whole life. */
  readonly #unopened = new Set<string>();

  /**
   * @param owner the name of the vault.
   * @param keys are asked for once, and again where that fails.
   */
  constructor(owner: string, keys: () => Promise<Keyring>) {
    this.#owner = owner;
    this.#keys = keys;
  }

  /**
   * Gets the keys. To be called before another side is asked for what it gives once and what has to be sealed then:
   * the sealing waits for nobody from here on, and cannot fail for want of keys.
   */
  async ready(): Promise<Keyring> {
    this.#ring ??= await this.#keys();
    return this.#ring;
  }

  sealSecrets(account: Account, secrets: AccountSecrets): Promise<string> {
    return this.seal(placeOf(account), secrets);
  }

  /** @returns `undefined` when it is of another place, or its key was removed. */
  async openSecrets(account: Account, sealed: string): Promise<Opened<AccountSecrets> | undefined> {
    // The gateway's own account before its first token.
    if (sealed === "") return { value: {}, isOld: false };
    const opened = await this.open(placeOf(account), sealed);
    if (opened === undefined) this.#unopened.add(this.#purpose(placeOf(account)));
    return opened as Opened<AccountSecrets> | undefined;
  }

  /** @returns whether `openSecrets` could not open its secrets. */
  isUnopened(account: Account): boolean {
    return this.#unopened.has(this.#purpose(placeOf(account)));
  }

  async seal(place: Place, value: unknown): Promise<string> {
    return seal(await this.ready(), this.#purpose(place), value);
  }

  async open(place: Place, sealed: string): Promise<Opened<unknown> | undefined> {
    const ring = await this.ready();
    const value = await unseal(ring, this.#purpose(place), sealed);
    return value === undefined
      ? undefined
      : { value, isOld: sealedWith(sealed) !== ring.currentId };
  }

  #purpose(place: Place): string {
    return JSON.stringify(["vault", 1, this.#owner, ...place]);
  }
}

function placeOf({ slug, id, issuer, kind }: Account): Place {
  return [slug, id, issuer?.issuer ?? "", kind];
}
