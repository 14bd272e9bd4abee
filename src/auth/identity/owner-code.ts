/**
 * The owner's code of a gateway whose operator configured none: it is made once, by the person who
 * has the link that only the operator can read. Only the hashes of link and code are stored.
 */

import { hashOf, randomName, randomSecret } from "../../lib/random.ts";

/** The way in which the owner of a new gateway gets a code, as the Worker reaches it. */
export interface OwnerSetup {
  /** @returns the token of a new link; `undefined` while an earlier one works, or a code exists. */
  beginSetup(): Promise<string | undefined>;
  /** @returns whether the link works. */
  isSetupToken(token: string): Promise<boolean>;
  /** Makes the code. @returns `undefined` when the link does not work, or no longer works. */
  finishSetup(token: string): Promise<string | undefined>;
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
/** 160 bits. */
const CODE_CHARS = 32;
const GROUP = /.{4}(?=.)/g;

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
    return this.#link()?.hash === hash;
  }

  async finishSetup(token: string): Promise<string | undefined> {
    const code = randomName(CODE_CHARS).replaceAll(GROUP, "$&-");
    const [given, made] = await Promise.all([hashOf(token), hashOf(code)]);
    if (this.codeHash() !== undefined || this.#link()?.hash !== given) return undefined;
    this.#store.delete(LINK);
    this.#store.put(CODE_HASH, made);
    return code;
  }

  #link(): Link | undefined {
    const link = this.#store.get(LINK) as Link | undefined;
    return link !== undefined && link.expiresAt > this.#now() ? link : undefined;
  }
}
