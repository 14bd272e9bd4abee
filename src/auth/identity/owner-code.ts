/**
 * The owner's code of a gateway whose operator configured none: it is made once, by the person who
 * has the link that only the operator can read. Only the hashes of link and code are stored.
 */

import { deriveBytes } from "../../lib/derive-bytes.ts";
import { hashOf, nameOf, randomSecret } from "../../lib/random.ts";

/** The way in which the owner of a new gateway gets a code, as the Worker reaches it. */
export interface OwnerSetup {
  /** @returns the token of a new link; `undefined` while an earlier one works, or a code exists. */
  beginSetup(): Promise<string | undefined>;
  /** @returns whether the link works. */
  isSetupToken(token: string): Promise<boolean>;
  /**
   * Makes the code, once: sent again from the same page, e.g. by a double click, of which the
   * browser shows the last response alone, it has the same code.
   *
   * @param nonce the random secret of the page from which it is sent.
   * @returns `undefined` when the link does not work, no longer works, or was used from another
   *   page.
   */
  finishSetup(token: string, nonce: string): Promise<string | undefined>;
}

export function setupPath(token: string): string {
  return `/setup?${new URLSearchParams({ token }).toString()}`;
}

/** The port to a small key-value store; the storage of a Durable Object satisfies it by shape. */
export interface SmallStore {
  get(key: string): unknown;
  put(key: string, value: unknown): void;
  delete(key: string): boolean;
}

interface Link {
  readonly hash: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

const LINK = "ownerSetupLink";
const CODE_HASH = "ownerCodeHash";
const LINK_MS = 30 * 60_000;
const GROUP = /.{4}(?=.)/g;

/**
 * @returns the code that is made from one page at the link: 160 bits, in groups that people can read
 *   out. Who has the link alone cannot know it.
 */
async function codeOf(token: string, nonce: string): Promise<string> {
  const root = new TextEncoder().encode(token + nonce);
  return nameOf(await deriveBytes(root, "owner code")).replaceAll(GROUP, "$&-");
}

/** Each method hashes first, so that no other code runs between its read and its write. */
export class OwnerCode implements OwnerSetup {
  readonly #store: SmallStore;
  readonly #now: () => number;

  constructor(store: SmallStore, now: () => number = () => Date.now()) {
    this.#store = store;
    this.#now = now;
  }

  /** @returns the hash of the code, if one was made. */
  codeHash(): string | undefined {
    return this.#store.get(CODE_HASH) as string | undefined;
  }

  async beginSetup(): Promise<string | undefined> {
    const token = randomSecret();
    const hash = await hashOf(token);
    if (this.codeHash() !== undefined || this.#link() !== undefined) return undefined;
    const link: Link = { hash, expiresAt: this.#now() + LINK_MS };
    this.#store.put(LINK, link);
    return token;
  }

  async isSetupToken(token: string): Promise<boolean> {
    const hash = await hashOf(token);
    return this.codeHash() === undefined && this.#link()?.hash === hash;
  }

  async finishSetup(token: string, nonce: string): Promise<string | undefined> {
    const code = await codeOf(token, nonce);
    const [given, made] = await Promise.all([hashOf(token), hashOf(code)]);
    if (this.#link()?.hash !== given) return undefined;
    const earlier = this.codeHash();
    if (earlier === undefined) this.#store.put(CODE_HASH, made);
    return earlier === undefined || earlier === made ? code : undefined;
  }

  #link(): Link | undefined {
    const link = this.#store.get(LINK) as Link | undefined;
    return link !== undefined && link.expiresAt > this.#now() ? link : undefined;
  }
}
