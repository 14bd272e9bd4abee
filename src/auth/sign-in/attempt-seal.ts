/**
 * The seal of an attempt. Only its handle opens it: the form that a person sends contains the
 * handle, and it is the `state` towards a provider. The record is found by the hash of the handle
 * and sealed with a key derived from it. The browser also holds a cookie, so a handle that leaks to
 * another browser is worthless there.
 */

import { importKey, type Keyring, seal, unseal } from "../../lib/seal.ts";
import type { Content } from "./attempt.ts";
import type { Ending } from "./ending.ts";

export const COOKIE = "__Host-edgeway-attempt-";
const COOKIE_ID_CHARS = 8;
const CONTENT = "attempt-content";
const ANSWER = "attempt-answer";

/** @param id the hash of the handle. */
export function cookieName(id: string): string {
  return COOKIE + id.slice(0, COOKIE_ID_CHARS);
}

const COOKIE_ID = /^[A-Za-z0-9_-]{8}$/;

/** @returns the beginning of the id of each attempt that has a cookie among these. */
export function attemptsIn(cookies: Iterable<string>): readonly string[] {
  const own = [...cookies].filter((name) => name.startsWith(COOKIE));
  return own.map((name) => name.slice(COOKIE.length)).filter((id) => COOKIE_ID.test(id));
}

export class AttemptSeal {
  readonly #ring: Keyring;

  private constructor(ring: Keyring) {
    this.#ring = ring;
  }

  /** The handle has 256 random bits, so one hash of it is a key that cannot be guessed. */
  static async of(handle: string): Promise<AttemptSeal> {
    const bytes = new TextEncoder().encode(`edgeway/auth/attempt/1:${handle}`);
    const key = await importKey(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
    return new AttemptSeal({ currentId: "handle", keys: new Map([["handle", key]]) });
  }

  content(content: Content): Promise<string> {
    return seal(this.#ring, CONTENT, content);
  }

  answer(ending: Ending): Promise<string> {
    return seal(this.#ring, ANSWER, ending);
  }

  /** @throws Error for data that this handle did not seal: its own record contains nothing else. */
  async openContent(sealed: string): Promise<Content> {
    return (await this.#open(CONTENT, sealed)) as Content;
  }

  async openAnswer(sealed: string): Promise<Ending> {
    return (await this.#open(ANSWER, sealed)) as Ending;
  }

  async #open(purpose: string, sealed: string): Promise<unknown> {
    const opened = await unseal(this.#ring, purpose, sealed);
    if (opened === undefined) throw new Error("An attempt does not open with its own handle");
    return opened;
  }
}
