/**
 * The sessions that one principal has at one legacy server. Over Streamable HTTP it is one, which all
 * requests share. Over HTTP+SSE everything comes on one stream, so that what a server says can be told
 * apart by nothing but whose session it is: there each request has one to itself, and what it leaves
 * is taken by the next.
 */

import { Tellings } from "../../lib/tellings.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import { Lane } from "./lane.ts";
import type { LaneOptions } from "./lane-options.ts";

/** Sessions over HTTP+SSE: each is a stream that stays open. */
const MAX_LANES = 8;

export class Lanes {
  /** The first session: where it is saved, it is this one. */
  readonly main: Lane;
  readonly #options: LaneOptions;
  readonly #all: Lane[] = [];
  #free: Lane[];
  readonly #waiting = new Set<(lane: Lane) => void>();
  /** By session: a server may tell all of them of one change. */
  readonly #tellings = new Tellings<number>();

  constructor(options: LaneOptions) {
    this.#options = options;
    this.main = this.#add(options);
    this.#free = [this.main];
  }

  /**
   * Lends a session for one request.
   *
   * @throws UpstreamError when there is none to be had; the reason of the signal.
   */
  async with<T>(signal: AbortSignal, run: (lane: Lane) => Promise<T>): Promise<T> {
    const transport = await this.main.ready();
    signal.throwIfAborted();
    if (transport !== "sse") return run(this.main);
    const lane = await this.#take(signal);
    try {
      return await run(lane);
    } finally {
      this.#giveBack(lane);
    }
  }

  /** Clients listen, and what they listen for may be told in one of the sessions. */
  get isAttending(): boolean {
    return this.#all.some((lane) => lane.isAttending);
  }

  /** What clients listen for may be another than before. Never rejects. */
  async attend(): Promise<void> {
    await Promise.all(this.#all.map((lane) => lane.attend()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((lane) => lane.close()));
  }

  #take(signal: AbortSignal): Lane | Promise<Lane> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#all.length >= MAX_LANES) return this.#next(signal);
    // What is lost with it is lost anyway: the stream is the session.
    return this.#add({ ...this.#options, saved: undefined, save: () => undefined });
  }

  #add(options: LaneOptions): Lane {
    const number = this.#all.length;
    const hear = (uri: string): void => {
      if (this.#tellings.isNew(uri, number)) options.hear(uri);
    };
    const lane = new Lane({ ...options, hear });
    this.#all.push(lane);
    return lane;
  }

  async #next(signal: AbortSignal): Promise<Lane> {
    const { slug, timeoutMs } = this.#options.target;
    const { promise, resolve, reject } = Promise.withResolvers<Lane>();
    const giveUp = (why: Error): void => {
      this.#waiting.delete(resolve);
      reject(why);
    };
    const leave = (): void => giveUp(signal.reason as Error);
    const timer = setTimeout(() => {
      const sentence = `has ${MAX_LANES} requests of this client open, and takes no more at once`;
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

  #giveBack(lane: Lane): void {
    for (const take of this.#waiting) {
      this.#waiting.delete(take);
      take(lane);
      return;
    }
    this.#free.push(lane);
  }
}
