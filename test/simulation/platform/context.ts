/**
 * A context owns what code has going on: its timers, connections and calls. It is a request at a Worker, or
 * one life of a Durable Object. When a context ends, nothing of it runs again: its promises never settle, as
 * on the platform.
 */

import { AsyncLocalStorage } from "node:async_hooks";

import type { Platform } from "./globals.ts";
import type { Scheduler, Step } from "./scheduler.ts";

const storage = new AsyncLocalStorage<Context>();

export class Context {
  readonly name: string;
  readonly scheduler: Scheduler;
  /** What code that runs here finds of its isolate; nothing outside of the gateway has any. */
  readonly platform: Platform | undefined;
  isAlive = true;
  readonly #onEnd: (() => void)[] = [];
  readonly #timers = new Map<number, { readonly repeat: number | undefined; step?: Step }>();
  /** Made once: to enter the storage of the host anew copies what it holds. */
  readonly #enter = storage.run(this, () => AsyncLocalStorage.snapshot()) as <T>(
    work: () => T,
  ) => T;
  #lastTimer = 0;

  constructor(name: string, scheduler: Scheduler, platform?: Platform) {
    this.name = name;
    this.scheduler = scheduler;
    this.platform = platform;
  }

  /** The same where there may be none: while a program is evaluated. */
  static get running(): Context | undefined {
    return storage.getStore();
  }

  /** The context of the code that runs. */
  static current(): Context {
    const context = storage.getStore();
    if (context === undefined) throw new Error("No I/O outside of a request (global scope)");
    return context;
  }

  run<T>(work: () => T): T {
    return this.#enter(work);
  }

  /** Posts a step that runs in this context, unless it has ended by then. */
  post(lane: string, label: string, run: () => void, delayMs = 0): Step {
    const guarded = (): void => {
      if (this.isAlive) this.run(run);
    };
    return this.scheduler.post(lane, label, guarded, delayMs);
  }

  /** Holds back what leaves the context until what it wrote is safe: the output gate of an object. */
  leave(send: () => void): void {
    if (this.isAlive) send();
  }

  /** Keeps the context for work that outlives its answer. */
  waitUntil(work: Promise<unknown>): void {
    work.catch(() => undefined);
  }

  /** Calls back when the context ends; at once if it has ended. @returns forgets the callback. */
  onEnd(callback: () => void): () => void {
    if (!this.isAlive) {
      callback();
      return () => undefined;
    }
    this.#onEnd.push(callback);
    return () => {
      const index = this.#onEnd.indexOf(callback);
      if (index >= 0) this.#onEnd.splice(index, 1);
    };
  }

  /** Its machine dies. */
  die(): void {
    this.end();
  }

  end(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    for (const id of this.#timers.keys()) this.clearTimer(id);
    for (const callback of this.#onEnd.splice(0)) callback();
  }

  get hasTimers(): boolean {
    return this.#timers.size > 0;
  }

  setTimer(callback: () => void, ms: number, isRepeated: boolean): number {
    const id = (this.#lastTimer += 1);
    this.#timers.set(id, { repeat: isRepeated ? Math.max(1, ms) : undefined });
    this.#arm(id, callback, ms);
    return id;
  }

  clearTimer(id: number): void {
    const step = this.#timers.get(id)?.step;
    if (step !== undefined) this.scheduler.cancel(step);
    this.#timers.delete(id);
  }

  #arm(id: number, callback: () => void, ms: number): void {
    const fire = (): void => {
      const timer = this.#timers.get(id);
      if (timer === undefined) return;
      if (timer.repeat === undefined) this.#timers.delete(id);
      else this.#arm(id, callback, timer.repeat);
      callback();
    };
    const timer = this.#timers.get(id);
    if (timer === undefined) return;
    // Those of one time fire in the order in which they were set.
    const lane = `timer ${this.name} ${this.scheduler.now + Math.max(0, ms)}`;
    timer.step = this.post(lane, `${this.name}: a timer fires`, fire, Math.max(0, ms));
  }
}
