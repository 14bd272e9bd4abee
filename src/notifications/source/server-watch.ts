/**
 * The watch on a server as its desk knows it: while it is to run, one is opened in the place of
 * each that has ended. A server is never hammered, however its streams end; and one that tells of
 * nothing is believed for a while.
 */

import type { Topic } from "../../catalog/feeds.ts";
import type { OpenWatch, WatchEnd, WatchEvents } from "./watch-port.ts";

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** A watch that stood for this long was a good one. */
const STEADY_MS = 10_000;
/** Somebody new is waiting: the server may be back, and is asked so often at most. */
const HURRY_MS = 1000;
const BELIEVED_MS = 300_000;

export interface WatchOptions {
  /** Rejects when the server cannot be asked. */
  readonly open: (events: WatchEvents) => Promise<OpenWatch>;
  readonly events: Pick<WatchEvents, "changed" | "updated" | "judged" | "missed">;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
}

export type WatchVerdict =
  /** The server will tell of it. */
  | "told"
  | "untold"
  /** It has not answered yet. */
  | "pending"
  /** It is not to be had; it is asked when it is back. */
  | "away";

/** One watch, from its opening to its end. */
interface Attempt {
  readonly startedAt: number;
  /** `undefined` while it is found out how the server is to be spoken to. */
  watch: OpenWatch | undefined;
  stoodAt: number | undefined;
}

export class Watch {
  readonly #options: WatchOptions;
  #attempt: Attempt | undefined;
  #lastStart = -Infinity;
  #refusedAt = -Infinity;
  #failures = 0;
  #timer: number | null = null;
  #moved = Promise.withResolvers<void>();

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** It stands, and what the server tells is heard. */
  get isHearing(): boolean {
    return this.#standing?.isHearing === true;
  }

  /** Resolves when some verdict may have changed. */
  get moved(): Promise<void> {
    return this.#moved.promise;
  }

  verdict(topic: Topic): WatchVerdict {
    const verdict = this.#standing?.verdict(topic);
    if (verdict !== undefined) return verdict ? "told" : "untold";
    if (this.#isRefused()) return "untold";
    return this.#attempt === undefined ? "away" : "pending";
  }

  /** Whether it was opened, so that what is pending is being asked for. */
  get hasStood(): boolean {
    return this.#standing !== undefined;
  }

  /** Runs from now on. Harmless when it does, or waits to be opened again. */
  start(): void {
    if (this.#attempt !== undefined || this.#timer !== null) return;
    if (!this.#isRefused()) this.#begin();
  }

  /** Runs, and is asked for by somebody new. */
  hurry(): void {
    if (this.#timer === null || this.#options.now() - this.#lastStart < HURRY_MS) return;
    if (!this.#isRefused()) this.#begin();
  }

  stop(): void {
    const attempt = this.#attempt;
    this.#attempt = undefined;
    this.#pauseOver();
    this.#failures = 0;
    void attempt?.watch?.close();
    this.#move();
  }

  /** These have become wanted, or are no longer. */
  revise(uris: readonly string[]): void {
    this.#attempt?.watch?.revise(uris);
    this.#move();
  }

  /** Asks again for what the server did not answer. */
  retry(): void {
    this.#attempt?.watch?.retry();
  }

  get #standing(): OpenWatch | undefined {
    return this.#attempt?.stoodAt === undefined ? undefined : this.#attempt.watch;
  }

  #isRefused(): boolean {
    return this.#options.now() - this.#refusedAt < BELIEVED_MS;
  }

  #begin(): void {
    this.#pauseOver();
    const startedAt = this.#options.now();
    const attempt: Attempt = { startedAt, watch: undefined, stoodAt: undefined };
    this.#attempt = attempt;
    this.#lastStart = startedAt;
    this.#options.open(this.#eventsOf(attempt)).then(
      (watch) => {
        attempt.watch = watch;
        if (this.#attempt !== attempt) void watch.close();
        this.#move();
      },
      () => this.#ended(attempt, "lost"),
    );
  }

  /** What a watch says that was given up is not heard. */
  #eventsOf(attempt: Attempt): WatchEvents {
    const { events, now } = this.#options;
    const ifCurrent =
      <Args extends readonly unknown[]>(take: (...args: Args) => void) =>
      (...args: Args): void => {
        if (this.#attempt === attempt) take(...args);
      };
    return {
      changed: ifCurrent(events.changed),
      updated: ifCurrent(events.updated),
      missed: ifCurrent(events.missed),
      judged: ifCurrent((topics) => {
        attempt.stoodAt ??= now();
        this.#refusedAt = -Infinity;
        events.judged(topics);
        this.#move();
      }),
      ended: (end) => this.#ended(attempt, end),
    };
  }

  #ended(attempt: Attempt, end: WatchEnd): void {
    if (this.#attempt !== attempt) return;
    const { now } = this.#options;
    const wasSteady = attempt.stoodAt !== undefined && now() - attempt.stoodAt >= STEADY_MS;
    this.#attempt = undefined;
    if (end === "refused") this.#refusedAt = now();
    if (wasSteady) this.#failures = 0;
    if (end === "closed" && wasSteady) this.#begin();
    else this.#pause(end);
    this.#move();
  }

  #pause(end: WatchEnd): void {
    const { random } = this.#options;
    const fullMs =
      end === "refused"
        ? BELIEVED_MS
        : Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, MAX_PAUSE_MS);
    this.#failures += 1;
    // Not all gateways that have lost a server are to be back at once.
    this.#timer = setTimeout(() => this.#begin(), fullMs * (1 - random() / 2));
  }

  #pauseOver(): void {
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  #move(): void {
    this.#moved.resolve();
    this.#moved = Promise.withResolvers();
  }
}
