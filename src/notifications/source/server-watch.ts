/**
 * The watch on a server as its manager sees it: while it is to run, a new one replaces each that has
 * ended. Pauses protect the server however its streams end. A server that refuses to announce
 * anything is not asked again for a while.
 */

import { type Backoff, pauseMs } from "../../lib/backoff.ts";
import type { Topic } from "../../catalog/feeds.ts";
import type { UsableCredential } from "../../upstream/credentials.ts";
import { discover, type EraVerdict } from "../../upstream/modern/discover.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import { LegacyWatch } from "./legacy-watch.ts";
import { ModernWatch } from "./modern-watch.ts";
import type { OpenWatch, WatchEnd, WatchEvents, WatchRequest } from "./watch-port.ts";

const BACKOFF: Backoff = { firstMs: 500, maxMs: 30_000 };
/** A watch that was open for this long counts as steady. */
const STEADY_MS = 10_000;
/** A new subscriber may open the watch early, because the server may be back, but not sooner than this. */
const OPENED_EARLY_MS = 1000;
const BELIEVED_MS = 300_000;
/** Timeout of a watch's requests. A call may take minutes, but these requests have no effects. */
const TIMEOUT_MS = 15_000;

export interface WatchOptions {
  /** Rejects when the server cannot be asked. */
  readonly open: (events: WatchEvents) => Promise<OpenWatch>;
  readonly events: Pick<WatchEvents, "changed" | "outdated" | "updated" | "answered" | "missed">;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
}

export type WatchVerdict =
  /** The server will announce it. */
  | "announced"
  | "unannounced"
  /** It has not answered yet. */
  | "pending"
  /** It cannot be reached, or did not answer; it is asked again. */
  | "unreachable";

/** One watch, from its opening to its end. */
interface Attempt {
  /** `undefined` while the server's era is being determined. */
  watch: OpenWatch | undefined;
  openedAt: number | undefined;
  /** The time since which what the server refuses was not asked for again. */
  refusedSince: number;
  /** The credential of the watch, when its account ended before it was open. */
  last: UsableCredential | undefined;
}

export class ServerWatch {
  readonly #options: WatchOptions;
  #attempt: Attempt | undefined;
  #lastStart = -Infinity;
  #refusedAt = -Infinity;
  #failures = 0;
  #timer: number | null = null;
  #isOver = false;
  #progress = Promise.withResolvers<void>();

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** The watch is open, and receives the server's notifications. */
  get isReceiving(): boolean {
    return this.#standing?.isReceiving === true;
  }

  /** Resolves when some verdict may have changed. */
  get progress(): Promise<void> {
    return this.#progress.promise;
  }

  verdict(topic: Topic): WatchVerdict {
    const verdict = this.#standing?.verdict(topic);
    if (verdict === "failed") return "unreachable";
    if (verdict !== undefined) return verdict ? "announced" : "unannounced";
    if (this.#isRefused()) return "unannounced";
    return this.#attempt === undefined ? "unreachable" : "pending";
  }

  /** The watch is open, so the server is being asked about pending topics. */
  get isOpen(): boolean {
    return this.#standing !== undefined;
  }

  /** Starts the watch, unless it runs already or waits to be opened again, or has ended. */
  start(): void {
    if (this.#isOver || this.#attempt !== undefined || this.#timer !== null) return;
    if (!this.#isRefused()) this.#begin();
  }

  /** Opens a waiting watch early, for a new subscriber. */
  openEarly(): void {
    if (this.#timer === null || this.#options.now() - this.#lastStart < OPENED_EARLY_MS) return;
    if (!this.#isRefused()) this.#begin();
  }

  /** Closes the watch, until it is started again. */
  stop(): void {
    void this.#close();
  }

  /**
   * Closes the watch for good: whoever still waits for it cannot start it again.
   *
   * @param last the credential of the watch, when its account has ended.
   * @returns when the server knows it.
   */
  end(last?: UsableCredential): Promise<void> {
    this.#isOver = true;
    return this.#close(last);
  }

  /** @param uris resources that have become wanted, or are no longer wanted. */
  revise(uris: readonly string[]): void {
    this.#attempt?.watch?.revise(uris);
    this.#progressed();
  }

  /** Repeats the requests that the server did not answer and, after some minutes, those that it refused. */
  retry(): void {
    const attempt = this.#attempt;
    if (attempt?.watch === undefined) return;
    const now = this.#options.now();
    const isRefusedToo = now - attempt.refusedSince >= BELIEVED_MS;
    if (isRefusedToo) attempt.refusedSince = now;
    attempt.watch.retry(isRefusedToo);
  }

  get #standing(): OpenWatch | undefined {
    return this.#attempt?.openedAt === undefined ? undefined : this.#attempt.watch;
  }

  #close(last?: UsableCredential): Promise<void> {
    const attempt = this.#attempt;
    this.#attempt = undefined;
    this.#pauseOver();
    this.#failures = 0;
    this.#progressed();
    if (attempt !== undefined) attempt.last = last;
    return attempt?.watch?.close(last) ?? Promise.resolve();
  }

  #isRefused(): boolean {
    return this.#options.now() - this.#refusedAt < BELIEVED_MS;
  }

  #begin(): void {
    this.#pauseOver();
    const now = this.#options.now();
    const attempt: Attempt = {
      watch: undefined,
      openedAt: undefined,
      refusedSince: now,
      last: undefined,
    };
    this.#attempt = attempt;
    this.#lastStart = now;
    this.#options.open(this.#eventsOf(attempt)).then(
      (watch) => {
        attempt.watch = watch;
        if (this.#attempt !== attempt) void watch.close(attempt.last);
        this.#progressed();
      },
      () => this.#ended(attempt, "lost"),
    );
  }

  /** Events of an abandoned watch are ignored. */
  #eventsOf(attempt: Attempt): WatchEvents {
    const { events, now } = this.#options;
    const ifCurrent =
      <Args extends readonly unknown[]>(take: (...args: Args) => void) =>
      (...args: Args): void => {
        if (this.#attempt === attempt) take(...args);
      };
    return {
      changed: ifCurrent(events.changed),
      outdated: ifCurrent(events.outdated),
      updated: ifCurrent(events.updated),
      missed: ifCurrent(events.missed),
      answered: ifCurrent((topics) => {
        attempt.openedAt ??= now();
        this.#refusedAt = -Infinity;
        events.answered(topics);
        this.#progressed();
      }),
      ended: (end) => this.#ended(attempt, end),
    };
  }

  #ended(attempt: Attempt, end: WatchEnd): void {
    if (this.#attempt !== attempt) return;
    const { now } = this.#options;
    const wasSteady = attempt.openedAt !== undefined && now() - attempt.openedAt >= STEADY_MS;
    this.#attempt = undefined;
    if (end === "refused") this.#refusedAt = now();
    if (wasSteady) this.#failures = 0;
    if (end === "closed" && wasSteady) this.#begin();
    else this.#pause(end);
    this.#progressed();
  }

  #pause(end: WatchEnd): void {
    const { random } = this.#options;
    const fullMs = end === "refused" ? BELIEVED_MS : pauseMs(BACKOFF, this.#failures);
    this.#failures += 1;
    // Jitter keeps gateways that lost the same server from reconnecting at once.
    this.#timer = setTimeout(() => this.#begin(), fullMs * (1 - random() / 2));
  }

  #pauseOver(): void {
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  #progressed(): void {
    this.#progress.resolve();
    this.#progress = Promise.withResolvers();
  }
}

/**
 * Opens a watch in the era of the server.
 *
 * @returns a watch that has begun, and may be closed at once: its caller need not wait for it.
 * @throws UpstreamError when the era of the server cannot be determined, or is not supported.
 */
export async function openWatch(request: WatchRequest, events: WatchEvents): Promise<OpenWatch> {
  const timeoutMs = Math.min(request.target.timeoutMs, TIMEOUT_MS);
  const hasty: WatchRequest = { ...request, target: { ...request.target, timeoutMs } };
  const { era } = await eraOf(hasty.target);
  switch (era) {
    case "modern":
      return new ModernWatch(hasty, events);
    case "legacy":
      return new LegacyWatch(hasty, events);
    case "unknown-modern": {
      const sentence = "speaks no revision that the gateway knows";
      throw new UpstreamError(request.target.slug, "other-era", sentence);
    }
  }
}

/** A server of both eras is watched in the modern one: it takes one request. */
function eraOf(target: UpstreamTarget): Promise<EraVerdict> | EraVerdict {
  if (target.transport === "sse") return { era: "legacy" };
  return target.era === "modern" ? { era: "modern" } : discover(target);
}
