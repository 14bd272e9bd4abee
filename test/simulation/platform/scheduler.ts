/**
 * The one clock and the one order of a simulated world. Everything that real machines do at a moment of
 * their own choosing is a step: a message arrives, a timer fires, a write is confirmed, a machine dies.
 * Steps of one lane keep their order, as bytes of one connection do; which lane goes on is chosen by the
 * seed. After each step, every promise that it settled has run its course before the next step is chosen.
 */

import { setImmediate } from "node:timers";

import type { Random } from "./random.ts";

export interface Step {
  readonly lane: string;
  /** Who does what, for the trace. */
  readonly label: string;
  /** Not before this time, in milliseconds since 1970. */
  readonly at: number;
  readonly run: () => void;
  /** It happens no more, and is not counted. */
  isCancelled: boolean;
}

/** The host collects what is no longer used between its turns. */
const STEPS_A_TURN = 500;

/** Runs every promise that is settled, and what that settles, to the end: what the host does after each turn. */
const drainPromises = (process as unknown as { readonly _tickCallback: () => void })._tickCallback;

/** Chooses among the lanes whose first step is due. */
export type Choose = (due: readonly Step[]) => number;
/** How much longer a step takes than it would, in milliseconds. */
export type Lag = (lane: string, label: string) => number;

export class Scheduler {
  now: number;
  steps = 0;
  /** Of the step that was taken last. */
  lastLabel = "";
  /** Asynchronous work of the host (cryptography), whose results wait for one another. */
  readonly hostWork: HostWork = new HostWork();
  readonly #choose: Choose;
  readonly #lag: Lag;
  readonly #lanes = new Map<string, Step[]>();
  readonly #onStep: (step: Step) => void;
  readonly #afterStep: (() => void)[] = [];
  readonly #numbers = new Map<string, number>();
  /** Every promise of the last step has run its course, and what belongs to its end was done. */
  #isSettled = false;
  /** What belongs to the end of the step was begun. */
  #isEnding = false;

  constructor(options: {
    readonly startAt: number;
    readonly choose: Choose;
    readonly lag?: Lag;
    readonly onStep?: (step: Step) => void;
  }) {
    this.now = options.startAt;
    this.#choose = options.choose;
    this.#lag = options.lag ?? (() => 0);
    this.#onStep = options.onStep ?? (() => undefined);
  }

  /** @param delayMs from now; a step is never due before those ahead of it in its lane. */
  post(lane: string, label: string, run: () => void, delayMs = 0): Step {
    const steps = this.#lanes.get(lane);
    const lag = this.#lag(lane, label);
    const at = Math.max(this.now + delayMs + lag, steps?.at(-1)?.at ?? 0);
    const step = { lane, label, at, run, isCancelled: false };
    if (steps === undefined) this.#lanes.set(lane, [step]);
    else steps.push(step);
    return step;
  }

  /** Takes back a step that is alone in its lane. */
  cancel(step: Step): void {
    step.isCancelled = true;
    const steps = this.#lanes.get(step.lane);
    if (steps?.length === 1 && steps[0] === step) this.#lanes.delete(step.lane);
  }

  /** @returns 1 for the first of a kind, 2 for the next: names for the trace. */
  number(kind: string): number {
    const number = (this.#numbers.get(kind) ?? 0) + 1;
    this.#numbers.set(kind, number);
    return number;
  }

  /** Registers what has to happen at the end of every step. */
  afterEachStep(work: () => void): void {
    this.#afterStep.push(work);
  }

  /** True when nothing is left to do before this time, in milliseconds since 1970. */
  isQuietUntil(time: number): boolean {
    for (const [first] of this.#lanes.values()) if ((first?.at ?? Infinity) < time) return false;
    return true;
  }

  /**
   * Takes steps until it is over, or there is none before `until`. The steps are taken in one turn of the host,
   * unless its threads have to be waited for: a turn of its own costs each step more than most steps do.
   */
  run(until: number, isOver: () => boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const turn = (): void => {
      try {
        for (let steps = 0; steps < STEPS_A_TURN; steps += 1) {
          if (!this.#settle()) break;
          if (isOver() || !this.#step(until)) {
            resolve();
            return;
          }
        }
        setImmediate(turn);
      } catch (error) {
        reject(error);
      }
    };
    setImmediate(turn);
    return promise;
  }

  /** @returns `false` when there is no step before `until`. */
  #step(until: number): boolean {
    const due = this.#due();
    const next = due[0]?.at ?? Infinity;
    if (next > this.now) {
      if (next > until || next === Infinity) return false;
      this.now = next;
    }
    const step = due[due.length === 1 ? 0 : this.#choose(due)];
    if (step === undefined) throw new Error("The choice is none of the steps that are due");
    this.#take(step);
    if (step.isCancelled) return true;
    this.steps += 1;
    this.lastLabel = step.label;
    this.#onStep(step);
    this.#isSettled = false;
    step.run();
    return true;
  }

  /**
   * Lets every promise run its course, and then what belongs to the end of a step.
   *
   * @returns `false` while threads of the host have to be waited for.
   */
  #settle(): boolean {
    while (!this.#isSettled) {
      do {
        if (this.hostWork.isRunning) return false;
        drainPromises();
      } while (this.hostWork.deliver());
      if (this.hostWork.isRunning) return false;
      if (this.#isEnding) this.#isSettled = true;
      else for (const work of this.#afterStep) work();
      this.#isEnding = !this.#isEnding;
    }
    return true;
  }

  /** The first steps of the lanes that are due; where none is, those of the time that comes next. */
  #due(): Step[] {
    const due: Step[] = [];
    let time = Infinity;
    for (const steps of this.#lanes.values()) {
      const first = steps[0];
      if (first === undefined) continue;
      const at = Math.max(first.at, this.now);
      if (at > time) continue;
      if (at < time) due.length = 0;
      time = at;
      due.push(first);
    }
    return due;
  }

  #take({ lane }: Step): void {
    const steps = this.#lanes.get(lane) ?? [];
    steps.shift();
    if (steps.length === 0) this.#lanes.delete(lane);
  }
}

/**
 * Work that threads of the host do, like cryptography. A step waits until all of it is done, and hands the
 * results out in the order in which the work began, so that the host's speed changes nothing.
 */
export class HostWork {
  #running = 0;
  #results: { deliver?: () => void }[] = [];

  do<T>(work: () => Promise<T>): Promise<T> {
    const place: { deliver?: () => void } = {};
    this.#running += 1;
    this.#results.push(place);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const run = async (): Promise<void> => {
      try {
        const value = await work();
        place.deliver = () => resolve(value);
      } catch (error) {
        place.deliver = () => reject(error);
      }
      this.#running -= 1;
    };
    void run();
    return promise;
  }

  get isRunning(): boolean {
    return this.#running > 0;
  }

  /** @returns `true` when there were results to hand out. */
  deliver(): boolean {
    if (this.#results.length === 0 || this.#running > 0) return false;
    const results = this.#results;
    this.#results = [];
    for (const { deliver } of results) deliver?.();
    return true;
  }
}

/** Chooses each step that is due with the same probability. */
export function uniformly(random: Random): Choose {
  return (due) => random.below(due.length);
}
