/**
 * The sessions that one principal has at one legacy server. Over Streamable HTTP it is one, which all
 * requests share. Over HTTP+SSE all messages come on one stream, so that only the session shows the
 * request that a message belongs to: there each request has a session to itself, which the next
 * request reuses.
 */

import { Deduplicator } from "../../lib/deduplicator.ts";
import type { UsableCredential } from "../../upstream/credentials.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import { UpstreamSession, type UpstreamSessionOptions } from "./upstream-session.ts";

/** Sessions over HTTP+SSE: each is a stream that stays open. */
const MAX_UPSTREAM_SESSIONS = 8;

export class UpstreamSessions {
  /** The first session, and the only one that is saved. */
  readonly main: UpstreamSession;
  readonly #options: UpstreamSessionOptions;
  readonly #all: UpstreamSession[] = [];
  #free: UpstreamSession[];
  readonly #waiting = new Set<(upstreamSession: UpstreamSession) => void>();
  /** By session, because a server may send one update to all of them. */
  readonly #updates = new Deduplicator<number>();

  constructor(options: UpstreamSessionOptions) {
    this.#options = options;
    this.main = this.#add(options);
    this.#free = [this.main];
  }

  /**
   * Lends a session for one request.
   *
   * @throws UpstreamError when no session is available; the reason of the signal.
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

  /** True while clients listen for updates that may come in one of the sessions. */
  get hasListeners(): boolean {
    return this.#all.some((upstreamSession) => upstreamSession.hasListeners);
  }

  /** Subscribes the sessions to the URIs that clients listen for now. Never rejects. */
  async followListeners(): Promise<void> {
    await Promise.all(this.#all.map((upstreamSession) => upstreamSession.followListeners()));
  }

  /** @param last the credential of the sessions, when their account has ended. */
  async close(last?: UsableCredential): Promise<void> {
    await Promise.all(this.#all.map((upstreamSession) => upstreamSession.close(last)));
  }

  #take(signal: AbortSignal): UpstreamSession | Promise<UpstreamSession> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#all.length >= MAX_UPSTREAM_SESSIONS) return this.#next(signal);
    // The state of such a session need not be saved, because it ends with its stream.
    return this.#add({ ...this.#options, saved: undefined, save: () => undefined });
  }

  #add(options: UpstreamSessionOptions): UpstreamSession {
    const number = this.#all.length;
    const onFirstUpdate = (uri: string): void => {
      if (this.#updates.isNew(uri, number)) options.onUpdated(uri);
    };
    const upstreamSession = new UpstreamSession({ ...options, onUpdated: onFirstUpdate });
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
