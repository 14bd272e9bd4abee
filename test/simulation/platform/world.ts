/**
 * One simulated world: the gateway in its isolates and objects, the network, and whoever is outside. The same
 * seed gives the same history, step by step.
 */

import { Context } from "./context.ts";
import { Platform } from "./globals.ts";
import { Isolate, type Program } from "./isolate.ts";
import { type Host, Network, send } from "./network.ts";
import type { Life } from "./life.ts";
import type { ObjectHome, Slot } from "./objects.ts";
import { Random } from "./random.ts";
import { IsolateRequest } from "./request-response.ts";
import { type Choose, type Lag, Scheduler, type Step } from "./scheduler.ts";
import { Namespace } from "./stubs.ts";

export interface WorldOptions {
  readonly seed: number;
  readonly program: Program;
  readonly vars: Readonly<Record<string, unknown>>;
  /** The bindings and their classes. */
  readonly objects: Readonly<Record<string, string>>;
  /** The longest delay of a message, in milliseconds. */
  readonly delayMs?: number;
  readonly choose: Choose;
  readonly lag?: Lag;
  readonly onStep?: (step: Step, now: number) => void;
  readonly onNote?: (text: string, now: number) => void;
  readonly observe?: (what: string) => void;
}

const START = Date.UTC(2026, 0, 1);
const WAIT_UNTIL_MS = 30_000;

/** A request at a Worker: it lasts until its answer is read and its promised work is done. */
class RequestContext extends Context {
  waiting = 1;
  readonly isolate: Isolate;

  constructor(name: string, isolate: Isolate, scheduler: Scheduler) {
    super(name, scheduler, isolate.platform);
    this.isolate = isolate;
    isolate.contexts.add(this);
    this.onEnd(() => isolate.contexts.delete(this));
  }

  override waitUntil(work: Promise<unknown>): void {
    this.waiting += 1;
    void work.catch(() => undefined).then(() => this.done());
  }

  done(): void {
    this.waiting -= 1;
    if (this.waiting === 0) this.end();
  }
}

export class World {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly network: Network;
  readonly log: string[] = [];
  readonly isolates: Isolate[] = [];
  readonly namespaces: ReadonlyMap<string, Namespace>;
  readonly #options: WorldOptions;
  readonly #env: object;
  /** How many isolates live at a time. */
  readonly #machines: number;
  /** How far the clock of an isolate's machine is off, in milliseconds. */
  readonly #skews = new Map<string, number>();
  #mostOffMs = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.random = new Random(options.seed);
    this.#machines = this.random.pick([1, 1, 2]);
    this.scheduler = new Scheduler({
      startAt: START,
      choose: options.choose,
      ...(options.lag === undefined ? {} : { lag: options.lag }),
      onStep: (step) => options.onStep?.(step, this.elapsed),
    });
    this.network = new Network(() => this.random.below((options.delayMs ?? 0) + 1));
    const home: ObjectHome = {
      scheduler: this.scheduler,
      network: this.network,
      random: this.random,
      isolateFor: () => this.#someIsolate(),
      confirmMs: () => this.random.below(3),
      written: new Set(),
    };
    const bound = Object.entries(options.objects).map(
      ([binding, className]) => [binding, new Namespace(home, className)] as const,
    );
    this.namespaces = new Map(bound);
    this.#env = { ...options.vars, ...Object.fromEntries(bound) };
    this.scheduler.afterEachStep(() => {
      for (const life of home.written) life.endTurn();
      home.written.clear();
    });
  }

  /** The gateway, as its clients reach it. */
  readonly gateway: Host = {
    context: () => {
      const isolate = this.#someIsolate();
      const number = this.scheduler.number("at the Worker");
      return new RequestContext(`Worker ${isolate.name}.${number}`, isolate, this.scheduler);
    },
    serve: (request) => {
      const context = Context.current() as RequestContext;
      return context.isolate.serve(request, (work) => context.waitUntil(work));
    },
    over: (context) => {
      if (!context.isAlive) return;
      (context as RequestContext).done();
      const late = (): void => context.end();
      if (context.isAlive)
        context.post(`end of ${context.name}`, `${context.name}: ends`, late, WAIT_UNTIL_MS);
    },
  };

  /** The clock of a machine jumps. @param ms from the true time, until it jumps again. */
  jump({ name }: Isolate, ms: number): void {
    this.#skews.set(name, ms);
    this.#mostOffMs = Math.max(this.#mostOffMs, Math.abs(ms));
  }

  /** How far any clock has been off: so much later may be done what was to be done at a time. */
  get mostOffMs(): number {
    return this.#mostOffMs;
  }

  /** Writes a line into the trace. */
  note(text: string): void {
    this.#options.onNote?.(text, this.scheduler.now - START);
  }

  /** A party outside of the gateway. */
  outsider(name: string): Context {
    return new Context(name, this.scheduler);
  }

  /** Sends a request to the gateway, from the outsider whose code runs. */
  request(url: string, init?: RequestInit): Promise<Response> {
    return send(this.network, new IsolateRequest(url, init), this.gateway);
  }

  *slots(): Generator<Slot> {
    for (const namespace of this.namespaces.values()) yield* namespace.slots.values();
  }

  *lives(): Generator<Life> {
    for (const { life } of this.slots()) if (life !== undefined) yield life;
  }

  /** Calls back after each step. */
  onStep(callback: (label: string) => void): void {
    this.scheduler.afterEachStep(() => callback(this.scheduler.lastLabel));
  }

  /** Milliseconds since the start. */
  get elapsed(): number {
    return this.scheduler.now - START;
  }

  /** Goes on until it is over, or nothing is left to do before `untilMs`, in milliseconds from the start. */
  async run({ untilMs, isOver }: { untilMs: number; isOver?: () => boolean }): Promise<void> {
    await this.scheduler.run(START + untilMs, isOver ?? (() => false));
  }

  /** Nothing happens in it any more. */
  close(): void {
    for (const life of this.lives()) life.storage.close();
  }

  #someIsolate(): Isolate {
    const alive = this.isolates.filter(({ isAlive }) => isAlive);
    if (alive.length > 0 && (alive.length >= this.#machines || this.random.chance(0.8)))
      return this.random.pick(alive);
    const { program } = this.#options;
    const name = `${this.scheduler.number("isolate")}`;
    const parts = {
      scheduler: this.scheduler,
      clock: () => this.scheduler.now + (this.#skews.get(name) ?? 0),
      random: this.random,
      env: this.#env,
      log: (line: string) => {
        this.log.push(line);
        this.note(`        log: ${line}`);
      },
      observe: this.#options.observe ?? (() => undefined),
    };
    const platform = new Platform(parts, this.network);
    const isolate = new Isolate(name, program, platform);
    this.isolates.push(isolate);
    return isolate;
  }
}
