/**
 * The credential of a person who is signed in. Processes share it: one renews it for all, and the others read it. A
 * login comes to an end by an answer of the authorization server alone, never by a network that fails.
 */

import { settleWithin } from "../../src/lib/time-out.ts";
import { Broken, LoginNeeded, NotReached, reasonOf } from "../http/failures.ts";
import type { Credentials } from "../http/gateway.ts";
import type { LoginFile, Tokens } from "../tokens/login-file.ts";
import { isSomebodyThere } from "./browser-command.ts";
import { openBrowser } from "./browser.ts";
import { LoginError } from "./login-error.ts";
import { signIn } from "./sign-in.ts";
import { refreshTokens } from "./token-requests.ts";

/** Of the life of an access token: the rest is for whom the network fails. */
const RENEW_AT = 0.8;
/** The gateway repeats an answer that was lost, for half a minute. */
const MOST_ATTEMPTS = 3;
/** A request waits so long for a renewal, and goes with what there is: that may be good for a while yet. */
const RENEWAL_MS = 2000;
/** Node takes a longer time for none at all. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface StoredLoginOptions {
  readonly url: URL;
  readonly file: LoginFile;
  /** Tells the person at stderr. */
  readonly notice: (text: string) => void;
}

export class StoredLogin implements Credentials {
  readonly #options: StoredLoginOptions;
  readonly #closed = new AbortController();
  /**
   * A page opens by itself once. It does not where one was signed in before, since nobody may be there to see it, nor
   * where a person has refused one: later pages are named.
   */
  #opens = true;
  #renewal: Promise<void> | undefined;
  #login: Promise<void> | undefined;

  constructor(options: StoredLoginOptions) {
    this.#options = options;
  }

  async current(): Promise<string | undefined> {
    const { tokens } = await this.#options.file.read();
    if (tokens === undefined) return undefined;
    this.#opens = false;
    if (!isDue(tokens) || tokens.refresh === undefined) return bearer(tokens);
    // Whatever fails: it is good for a while yet, or the gateway says that it is not.
    await settleWithin(this.#refresh(tokens), RENEWAL_MS).catch(() => undefined);
    const { tokens: renewed } = await this.#options.file.read();
    return renewed === undefined ? undefined : bearer(renewed);
  }

  async renew(refused: string | undefined, challenge: string, deadline: number): Promise<void> {
    const { tokens } = await this.#options.file.read();
    if (tokens !== undefined && bearer(tokens) !== refused) return;
    if (tokens !== undefined) {
      try {
        // What nobody waits for begins no login, but it is renewed all the same.
        const isDone = await isDoneBy(deadline || Infinity, this.#refresh(tokens));
        if (!isDone) throw new NotReached("its login is not renewed yet");
      } catch (error) {
        if (isPassing(error)) throw new NotReached(error.message);
        this.#closed.signal.throwIfAborted();
        throw new LoginNeeded(
          `The login cannot be renewed: ${reasonOf(error)}. ${toDo(this.#options.url)}`,
        );
      }
      const { tokens: renewed } = await this.#options.file.read();
      if (renewed !== undefined) return;
    }
    await this.#waitForLogin(challenge, deadline);
  }

  /** Renews the tokens, unless another process has; forgets them if they have ended, or cannot be renewed. */
  #refresh(stale: Tokens): Promise<void> {
    this.#renewal ??= this.#options.file
      .locked(this.#closed.signal, () => this.#refreshLocked(stale))
      .finally(() => {
        this.#renewal = undefined;
      });
    return this.#renewal;
  }

  async #refreshLocked(stale: Tokens): Promise<void> {
    const { file } = this.#options;
    const { tokens, endpoints, clientId } = await file.read();
    if (tokens === undefined || tokens.access !== stale.access) return;
    const { refresh } = tokens;
    if (refresh === undefined || endpoints === undefined || clientId === undefined) {
      await file.change({ tokens: undefined });
      return;
    }
    for (let attempt = 1; ; attempt++) {
      try {
        const { signal } = this.#closed;
        await file.change({ tokens: await refreshTokens(endpoints, refresh, clientId, signal) });
        return;
      } catch (error) {
        if (error instanceof Broken && attempt < MOST_ATTEMPTS) continue;
        if (!(error instanceof LoginError)) throw error;
        // An older command may have written another login meanwhile, without the lock.
        const { tokens: now } = await file.read();
        const isUnknown = error.code === "invalid_client";
        if (now?.refresh !== refresh) return;
        if (error.code !== "invalid_grant" && !isUnknown) throw error;
        await file.change({ tokens: undefined, ...(isUnknown && { clientId: undefined }) });
        return;
      }
    }
  }

  /** Signs in, or waits for another process that does. @throws LoginNeeded when the deadline has passed. */
  async #waitForLogin(challenge: string, deadline: number): Promise<void> {
    const { url, file } = this.#options;
    if (deadline === 0 || deadline === Infinity) throw new LoginNeeded(toDo(url));
    if (!isSomebodyThere(process.platform, process.env)) {
      throw new LoginNeeded(toDo(url), "hopeless");
    }
    this.#login ??= this.#signIn(challenge).finally(() => {
      this.#login = undefined;
    });
    if (await isDoneBy(deadline, this.#login)) return;
    const { page } = await file.read();
    throw new LoginNeeded(page === undefined ? toDo(url) : toOpen(url, page));
  }

  async #signIn(challenge: string): Promise<void> {
    const { url, file, notice } = this.#options;
    const begunAt = Date.now();
    try {
      await file.signingIn(this.#closed.signal, async () => {
        const { tokens, refusedAt = 0 } = await file.read();
        // Another process has shown a page, and that was enough.
        if (tokens !== undefined) return;
        if (refusedAt >= begunAt) {
          this.#opens = false;
          throw new LoginError("Nobody has signed in on the page that was open");
        }
        const show = (page: string): void => {
          notice(toOpen(url, page));
          if (this.#opens) openBrowser(page);
          this.#opens = false;
        };
        await signIn({ url, file, challenge, show, signal: this.#closed.signal });
        notice(`signed in at ${url.href}`);
      });
    } catch (error) {
      if (error instanceof LoginError) throw new LoginNeeded(`${error.message}. ${toDo(url)}`);
      throw error;
    }
  }
}

/** @param deadline as `performance.now()` counts. @returns whether it was done by then; it goes on. */
async function isDoneBy(deadline: number, work: Promise<void>): Promise<boolean> {
  const ms = Math.min(Math.max(0, deadline - performance.now()), MAX_TIMER_MS);
  const done = work.then(() => true);
  return (await settleWithin(done, ms)) === true;
}

function bearer({ access }: Tokens): string {
  return `Bearer ${access}`;
}

function isDue({ obtainedAt, expiresAt }: Tokens): boolean {
  if (expiresAt === undefined) return false;
  return Date.now() >= obtainedAt + (expiresAt - obtainedAt) * RENEW_AT;
}

function isPassing(error: unknown): error is NotReached | Broken {
  return error instanceof NotReached || error instanceof Broken;
}

function toOpen(url: URL, page: string): string {
  return `Sign in at ${url.href}: open ${page}`;
}

function toDo(url: URL): string {
  return `Nobody is signed in at ${url.href}. Run: edgeway login ${url.href}. Or make an API key at ${url.origin}/account, and set EDGEWAY_KEY to it`;
}
