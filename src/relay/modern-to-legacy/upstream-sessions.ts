/**
 * The sessions that one principal has at one legacy server. Over Streamable HTTP it is one, which all
 * requests share. Over HTTP+SSE everything comes on one stream, so that what a server says can be told
 * apart by nothing but whose session it is: there each request has one to itself, and what it leaves
 * is taken by the next.
 */

import { Deduplicator } from "../../lib/deduplicator.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import { UpstreamSession } from "./upstream-session.ts";
import type { UpstreamSessionOptions } from "./upstream-session-options.ts";

/** Sessions over HTTP+SSE: each is a stream that stays open. */
const MAX_UPSTREAM_SESSIONS = 8;

export class UpstreamSessions {
  /** The first session: where it is saved, it is this one. */
  readonly main: UpstreamSession;
  readonly #options: UpstreamSessionOptions;
  readonly #all: UpstreamSession[] = [];
  #free: UpstreamSession[];
  readonly #waiting = new Set<(upstreamSession: UpstreamSession) => void>();
  /** By session: a server may tell all of them of one change. */
  readonly #tellings = new Deduplicator<number>();

  constructor(options: UpstreamSessionOptions) {
    this.#options = options;
    this.main = this.#add(options);
    this.#free = [this.main];
  }

  /**
   * Lends a session for one request.
   *
   * @throws UpstreamError when there is none to be had; the reason of the signal.
   */
  async with<T>(
    signal: AbortSignal,
    run: (upstreamSession: UpstreamSession) => Promise<T>,
  ): Promise<T> {
    const transport = await this.main.ready();
    signal.throwIfAborted();
    if (transport !== "sse") return run(this.main);
    const upstreamSession = await this.#take(signal);
    try {
      return await run(upstreamSession);
    } finally {
      this.#giveBack(upstreamSession);
    }
  }

  /** Clients listen, and what they listen for may be told in one of the sessions. */
  get isAttending(): boolean {
    return this.#all.some((upstreamSession) => upstreamSession.isAttending);
  }

  /** What clients listen for may be another than before. Never rejects. */
  async attend(): Promise<void> {
    await Promise.all(this.#all.map((upstreamSession) => upstreamSession.attend()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((upstreamSession) => upstreamSession.close()));
  }

  #take(signal: AbortSignal): UpstreamSession | Promise<UpstreamSession> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#all.length >= MAX_UPSTREAM_SESSIONS) return this.#next(signal);
    // What is lost with it is lost anyway: the stream is the session.
    return this.#add({ ...this.#options, saved: undefined, save: () => undefined });
  }

  #add(options: UpstreamSessionOptions): UpstreamSession {
    const number = this.#all.length;
    const hear = (uri: string): void => {
      if (this.#tellings.isNew(uri, number)) options.hear(uri);
    };
    const upstreamSession = new UpstreamSession({ ...options, hear });
    this.#all.push(upstreamSession);
    return upstreamSession;
  }

  async #next(signal: AbortSignal): Promise<UpstreamSession> {
    const { slug, timeoutMs } = this.#options.target;
    const { promise, resolve, reject } = Promise.withResolvers<UpstreamSession>();
    const giveUp = (why: Error): void => {
      this.#waiting.delete(resolve);
      reject(why);
    };
    const leave = (): void => giveUp(signal.reason as Error);
    const timer = setTimeout(() => {
      const sentence = `has ${MAX_UPSTREAM_SESSIONS} requests of this client open, and takes no more at once`;
      giveUp(new UpstreamError(slug, "overloaded", sentence));
    }, timeoutMs);
    this.#waiting.add(resolve);
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
    }
  }

  #giveBack(upstreamSession: UpstreamSession): void {
    for (const take of this.#waiting) {
      this.#waiting.delete(take);
      take(upstreamSession);
      return;
    }
    this.#free.push(upstreamSession);
  }
}
