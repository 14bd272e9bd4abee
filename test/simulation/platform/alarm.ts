/**
 * The alarm of an object: what the disk says of it, and the handler's run. It fires at least once: a run that
 * fails, or that dies with its machine, is followed by another, unless it has set or deleted the alarm itself.
 */

import type { Life } from "./life.ts";
import type { Scheduler, Step } from "./scheduler.ts";

/** A handler that throws is tried again so often, each time after twice the time. */
const MAX_RETRIES = 6;
const FIRST_RETRY_MS = 2000;
/** Between two runs: an object whose clock is slow sets what is over for the platform again and again. */
const PAUSE_MS = 50;

interface Run {
  readonly at: number;
  readonly tries: number;
}

export class Alarm {
  /** As it was confirmed last. */
  #at: number | null = null;
  #step: Step | undefined;
  /** The run that is not known to be over. */
  #run: Run | undefined;
  /** When it fired last, in milliseconds since 1970. */
  #ranAt = -Infinity;
  /** How often it has fired. */
  times = 0;
  readonly #name: string;
  readonly #scheduler: Scheduler;
  readonly #deliver: (handle: (life: Life) => Promise<void>) => Promise<void>;

  constructor(
    name: string,
    scheduler: Scheduler,
    deliver: (handle: (life: Life) => Promise<void>) => Promise<void>,
  ) {
    this.#name = name;
    this.#scheduler = scheduler;
    this.#deliver = deliver;
  }

  /** The disk has got what a turn left. */
  confirmed(at: number | null): void {
    if (at === this.#at) return;
    this.#at = at;
    this.#run = undefined;
    if (this.#step !== undefined) this.#scheduler.cancel(this.#step);
    this.#step = undefined;
    const dueAt = Math.max(at ?? 0, this.#ranAt + PAUSE_MS);
    if (at !== null) this.#arm({ at, tries: 0 }, dueAt - this.#scheduler.now);
  }

  /** The life was lost, perhaps in the handler. */
  lost(): void {
    const run = this.#run;
    this.#run = undefined;
    if (this.#step !== undefined || this.#at === null) return;
    // A machine that dies is no failure of the handler: it is tried for ever.
    this.#arm({ at: this.#at, tries: run?.tries ?? 0 }, FIRST_RETRY_MS, run !== undefined);
  }

  #again(at: number): void {
    this.#at = null;
    this.confirmed(at);
  }

  #arm(run: Run, delayMs: number, isRetry = run.tries > 0): void {
    const again = isRetry ? " again" : "";
    this.#step = this.#scheduler.post(
      `alarm of ${this.#name}`,
      `${this.#name}: its alarm fires${again}`,
      () => void this.#fire(run, isRetry),
      Math.max(0, delayMs),
    );
  }

  async #fire(run: Run, isRetry: boolean): Promise<void> {
    this.#step = undefined;
    this.#run = run;
    this.#ranAt = this.#scheduler.now;
    this.times += 1;
    const { at, tries } = run;
    await this.#deliver(async ({ storage, user }) => {
      // What was changed meanwhile, and is not confirmed yet, counts.
      if (!storage.beginAlarm(at)) return;
      try {
        await user.alarm?.({ retryCount: isRetry ? Math.max(1, tries) : 0, isRetry });
        storage.endAlarm();
        // For the disk, nothing has changed where the handler has set the time at which it ran.
        if (storage.alarmAt === at) this.#again(at);
      } catch {
        if (!storage.failAlarm(tries < MAX_RETRIES)) return;
        this.#run = undefined;
        this.#arm({ at, tries: tries + 1 }, FIRST_RETRY_MS * 2 ** tries);
      }
    });
  }
}
