/**
 * An attempt in its record, and the browser that began it: each of its steps can be taken once.
 *
 * Only the handle of an attempt opens it: the form that a person sends contains the handle, and it is
 * the `state` towards a provider. The record is found by the hash of the handle and sealed with a key
 * derived from it. The browser also holds a cookie, so a handle that leaks to another browser is
 * worthless there. The handle also says when the attempt began: long after the record and the cookie
 * are gone, a page that was left open is told apart from one in another browser.
 */

import { handleKeyring } from "../../lib/handle-keyring.ts";
import { hashOf, randomSecret } from "../../lib/random.ts";
import { type Keyring, seal, unseal } from "../../lib/seal.ts";
import type { Limits } from "../../policy/limits.ts";
import type { AuthContext } from "../context/context.ts";
import { cookie, noCookie, readCookies } from "../cookies.ts";
import type { Stage } from "../store/attempts.ts";
import type { AttemptRefusal } from "../trace/trace.ts";
import {
  type Attempt,
  type Content,
  problem,
  type Problem,
  type ProblemKind,
  type Settled,
  type StepOutcome,
} from "./attempt.ts";

const COOKIE = "__Host-edgeway-attempt-";
const COOKIE_ID_CHARS = 8;
const CONTENT = "attempt-content";
const ANSWER = "attempt-answer";

/** @param id the hash of the handle. */
export function cookieName(id: string): string {
  return COOKIE + id.slice(0, COOKIE_ID_CHARS);
}

const COOKIE_ID = /^[A-Za-z0-9_-]{8}$/;

/** @returns the beginning of the id of each attempt that has a cookie among these. */
function attemptsIn(cookies: Iterable<string>): readonly string[] {
  const own = [...cookies].filter((name) => name.startsWith(COOKIE));
  return own.map((name) => name.slice(COOKIE.length)).filter((id) => COOKIE_ID.test(id));
}

export class AttemptSeal {
  readonly #ring: Keyring;

  private constructor(ring: Keyring) {
    this.#ring = ring;
  }

  static async of(handle: string): Promise<AttemptSeal> {
    return new AttemptSeal(await handleKeyring("edgeway/auth/attempt/1", handle));
  }

  content(content: Content): Promise<string> {
    return seal(this.#ring, CONTENT, content);
  }

  answer(ending: StepOutcome): Promise<string> {
    return seal(this.#ring, ANSWER, ending);
  }

  /** @throws Error for data that this handle did not seal: its own record contains nothing else. */
  async openContent(sealed: string): Promise<Content> {
    return (await this.#open(CONTENT, sealed)) as Content;
  }

  async openAnswer(sealed: string): Promise<StepOutcome> {
    return (await this.#open(ANSWER, sealed)) as StepOutcome;
  }

  async #open(purpose: string, sealed: string): Promise<unknown> {
    const opened = await unseal(this.#ring, purpose, sealed);
    if (opened === undefined) throw new Error("An attempt does not open with its own handle");
    return opened;
  }
}

/**
 * A browser with more open attempts has mostly forgotten them, and the size of headers is limited.
 */
const MAX_COOKIES = 12;

/** @returns a new random handle and its id. */
export async function newHandle(): Promise<Pick<Attempt, "handle" | "id">> {
  const handle = `${randomSecret()}.${Date.now()}`;
  return { handle, id: await hashOf(handle) };
}

/** @returns the values of `Set-Cookie` for the browser. */
export async function openAttempt(
  { store, limits }: AuthContext,
  request: Request,
  { handle, id, stage, content }: Attempt,
): Promise<readonly string[]> {
  const secret = randomSecret();
  const [browser, seal] = await Promise.all([hashOf(secret), AttemptSeal.of(handle)]);
  const ms = attemptMs(limits);
  await store.ephemeral(id).attempts.open({
    id,
    browser,
    stage,
    content: await seal.content(content),
    expiresAt: content.startedAt + ms,
  });
  const own = [...readCookies(request).keys()].filter((name) => name.startsWith(COOKIE));
  const tooMany = own.slice(0, Math.max(0, own.length - MAX_COOKIES + 1));
  return [cookie(cookieName(id), secret, ms / 1000), ...tooMany.map(noCookie)];
}

function attemptMs({ attemptMinutes }: Pick<Limits, "attemptMinutes">): number {
  return attemptMinutes * 60_000;
}

const HANDLE = /^[A-Za-z0-9_-]{43}\.(\d{13})$/;

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

interface StepOptions {
  /**
   * What came with the request is spent: its answer is not repeated, however soon it comes again, and
   * the attempt is over when the work fails.
   */
  readonly isOnce?: boolean;
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
   * @returns the reason why there is none, for a handle that is malformed or too old, or without the
   *   cookie: no object is asked about those.
   */
  static async of(
    { store, limits }: AuthContext,
    request: Request,
    handle: string | null,
  ): Promise<HeldAttempt | "other-browser" | "expired"> {
    const [, startedAt] = HANDLE.exec(handle ?? "") ?? [];
    if (handle === null || startedAt === undefined) return "other-browser";
    if (Number(startedAt) + attemptMs(limits) <= Date.now()) return "expired";
    const id = await hashOf(handle);
    const secret = readCookies(request).get(cookieName(id));
    if (secret === undefined) return "other-browser";
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
   * receive its result, as does a request that is repeated within seconds. After work that fails, the
   * attempt is where it was, and the person can send the form again: a code that the work has issued
   * reached nobody, and expires.
   *
   * @returns `undefined` when there is no such step to take, or no longer.
   * @throws the error of the work.
   */
  async step(
    stage: Stage,
    work: (attempt: Attempt) => Promise<Settled>,
    { isOnce = false }: StepOptions = {},
  ): Promise<StepOutcome | undefined> {
    const { id, browser } = this.#names;
    const taken = await this.#rows.take(id, browser, stage);
    if (taken.kind === "gone") return undefined;
    if (taken.kind === "answered") return this.#seal.openAnswer(taken.answer);
    const { claim } = taken;
    try {
      const { ending, next } = await work(await this.#open(stage, taken.content));
      await this.#rows.settle(id, {
        claim,
        ...(!isOnce && { answer: await this.#seal.answer(ending) }),
        ...(next && { stage: next.stage, content: await this.#seal.content(next.content) }),
      });
      return ending;
    } catch (error) {
      await this.#rows.settle(id, { claim, ...(!isOnce && { stage }) });
      throw error;
    }
  }

  /** @returns the result of a step that was taken a moment ago; the step itself is not taken. */
  async again(stage: Stage): Promise<StepOutcome | undefined> {
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
}

const PROBLEMS: Readonly<Record<AttemptRefusal, ProblemKind>> = {
  expired: "attempt-gone",
  used: "attempt-gone",
  "other-browser": "attempt-gone",
  ended: "attempt-gone",
  "foreign-origin": "foreign-form",
  malformed: "no-form",
};

interface Marks {
  readonly attempt?: string;
  readonly client?: string;
}

/** @param marks of the attempt, as far as it is known which one was meant. */
export function attemptExpired(
  { trace }: Pick<AuthContext, "trace">,
  reason: AttemptRefusal,
  marks: Marks,
): Problem {
  const reference = trace({ kind: "attempt_refused", reason, ...marks });
  return problem(PROBLEMS[reason], { reference });
}
