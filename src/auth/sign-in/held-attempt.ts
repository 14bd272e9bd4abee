/** An attempt and the browser that began it: each of its steps can be taken once. */

import { hashOf } from "../../lib/random.ts";
import type { AuthContext } from "../context/context.ts";
import { noCookie, readCookies } from "../cookies.ts";
import type { Stage } from "../store/attempts.ts";
import type { Attempt, Content, Settled } from "./attempt.ts";
import { attemptsIn, AttemptSeal, cookieName } from "./attempt-seal.ts";
import type { Ending } from "./ending.ts";

const HANDLE = /^[A-Za-z0-9_-]{43}$/;

interface Names {
  readonly handle: string;
  /** The hashes of the handle and of the browser's cookie. */
  readonly id: string;
  readonly browser: string;
}

/**
 * Finds the mark by which the login doctor joins a step to its attempt, whether the attempt exists
 * or not.
 *
 * @returns the id of the attempt that a handle names; otherwise the part of it in the browser's
 *   cookie, if the browser has one such cookie alone.
 */
export async function attemptMark(
  request: Request,
  handle: string | null,
): Promise<{ readonly attempt?: string }> {
  if (handle !== null && HANDLE.test(handle)) return { attempt: await hashOf(handle) };
  const [only, ...others] = attemptsIn(readCookies(request).keys());
  return only === undefined || others.length > 0 ? {} : { attempt: only };
}

export class HeldAttempt {
  readonly #store: AuthContext["store"];
  readonly #names: Names;
  readonly #seal: AttemptSeal;

  private constructor(store: AuthContext["store"], names: Names, seal: AttemptSeal) {
    this.#store = store;
    this.#names = names;
    this.#seal = seal;
  }

  /**
   * @returns `undefined` for a malformed handle or without the cookie: no object is asked about
   *   those.
   */
  static async of(
    { store }: AuthContext,
    request: Request,
    handle: string | null,
  ): Promise<HeldAttempt | undefined> {
    if (handle === null || !HANDLE.test(handle)) return undefined;
    const id = await hashOf(handle);
    const secret = readCookies(request).get(cookieName(id));
    if (secret === undefined) return undefined;
    const names = { handle, id, browser: await hashOf(secret) };
    return new HeldAttempt(store, names, await AttemptSeal.of(handle));
  }

  /** The `Set-Cookie` for the browser when the attempt is over. */
  get endCookie(): string {
    return noCookie(cookieName(this.#names.id));
  }

  /** @returns the attempt while it waits for an answer. */
  async find(): Promise<Attempt | undefined> {
    const { id, browser } = this.#names;
    const found = await this.#rows.find(id, browser);
    return found === undefined ? undefined : this.#open(found.stage, found.content);
  }

  /**
   * Takes a step of the attempt. One of several concurrent requests does the work; the others
   * receive its result, as does a request that is repeated within seconds.
   *
   * @returns `undefined` when there is no such step to take, or no longer.
   */
  async step(
    stage: Stage,
    work: (attempt: Attempt) => Promise<Settled>,
  ): Promise<Ending | undefined> {
    const { id, browser } = this.#names;
    const taken = await this.#rows.take(id, browser, stage);
    if (taken.kind === "gone") return undefined;
    if (taken.kind === "answered") return this.#seal.openAnswer(taken.answer);
    try {
      const settled = await work(await this.#open(stage, taken.content));
      await this.#settle(settled);
      return settled.ending;
    } catch (error) {
      await this.#rows.settle(id, {});
      throw error;
    }
  }

  /** @returns the result of a step that was taken a moment ago; the step itself is not taken. */
  async again(stage: Stage): Promise<Ending | undefined> {
    const { id, browser } = this.#names;
    const answered = await this.#rows.again(id, browser, stage);
    return answered.kind === "answered" ? this.#seal.openAnswer(answered.answer) : undefined;
  }

  /** Replaces the content. @returns whether the attempt was still at this stage. */
  async change(stage: Stage, content: Content): Promise<boolean> {
    const { id, browser } = this.#names;
    return this.#rows.change(id, browser, { stage, content: await this.#seal.content(content) });
  }

  get #rows() {
    return this.#store.ephemeral(this.#names.id).attempts;
  }

  async #open(stage: Stage, sealed: string): Promise<Attempt> {
    const { handle, id } = this.#names;
    return { handle, id, stage, content: await this.#seal.openContent(sealed) };
  }

  async #settle({ ending, next, isOnce }: Settled): Promise<void> {
    await this.#rows.settle(this.#names.id, {
      ...(isOnce !== true && { answer: await this.#seal.answer(ending) }),
      ...(next !== undefined && {
        stage: next.stage,
        content: await this.#seal.content(next.content),
      }),
    });
  }
}
