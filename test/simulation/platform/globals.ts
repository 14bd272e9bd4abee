/**
 * What the gateway's code finds as its globals: the platform's, over the simulated clock and network. The code
 * is the same in every isolate, so each global looks for the isolate of the context that runs.
 */

import { IsolateAbortSignal } from "./abort.ts";
import { Context } from "./context.ts";
import { cryptoOf, type SimulatedCrypto } from "./crypto.ts";
import { AutoResponse } from "./object-sockets.ts";
import { fetchOver, type Network } from "./network.ts";
import type { Random } from "./random.ts";
import { IsolateRequest, IsolateResponse } from "./request-response.ts";
import type { Scheduler } from "./scheduler.ts";
import { makeWebSocketPair, SimulatedSocket } from "./sockets.ts";

/** What one isolate has of its own. */
export class Platform {
  readonly scheduler: Scheduler;
  /** The machine's own clock, in milliseconds since 1970: it may jump. */
  readonly clock: () => number;
  readonly random: Random;
  readonly log: (line: string) => void;
  /** Called by a program that was edited to show what it does. */
  readonly observe: (what: string) => void;
  /** The bindings. */
  readonly env: object;
  readonly fetch: typeof fetch;
  readonly startedAt: number;
  /** What the modules of the program remember in this isolate. */
  readonly memory = new Map<() => object, object>();
  #crypto: SimulatedCrypto | undefined;

  constructor(
    parts: Pick<Platform, "scheduler" | "clock" | "random" | "log" | "observe" | "env">,
    network: Network,
  ) {
    this.scheduler = parts.scheduler;
    this.clock = parts.clock;
    this.random = parts.random;
    this.log = parts.log;
    this.observe = parts.observe;
    this.env = parts.env;
    this.fetch = fetchOver(network);
    this.startedAt = parts.scheduler.now;
  }

  get crypto(): SimulatedCrypto {
    return (this.#crypto ??= cryptoOf(this.scheduler.hostWork, this.random));
  }
}

/** The isolate whose code runs. */
function here(): Platform {
  const { platform } = Context.current();
  if (platform === undefined) throw new Error("The gateway's code runs outside of its isolates");
  return platform;
}

/**
 * What a module remembers, in the isolate whose code runs. A program is evaluated once, and `bundle.ts` has it
 * keep all that lasts here.
 */
function remembered(make: () => object): object {
  const own = (): object => {
    const { memory } = here();
    let made = memory.get(make);
    if (made === undefined) memory.set(make, (made = make()));
    return made;
  };
  return new Proxy(
    {},
    {
      get: (_, key) => {
        const made = own();
        const value: unknown = Reflect.get(made, key);
        return typeof value === "function" ? (value.bind(made) as unknown) : value;
      },
      set: (_, key, value) => Reflect.set(own(), key, value),
    },
  );
}

/** The bindings, as a module imports them. */
export const env: object = new Proxy(
  {},
  { get: (_, key) => Reflect.get(here().env, key) as unknown },
);

function say(...args: unknown[]): void {
  // What a library says while it is evaluated is none of the gateway's log.
  if (Context.running !== undefined) here().log(args.map(asText).join(" "));
}

export function gatewayGlobals(): Record<string, unknown> {
  const own = {
    // While a program is evaluated, no time passes.
    Date: dateOf(() => (Context.running === undefined ? 0 : here().clock())),
    performance: { now: () => here().scheduler.now - here().startedAt },
    setTimeout: timerOf(false),
    setInterval: timerOf(true),
    clearTimeout: clearTimer,
    clearInterval: clearTimer,
    Math: Object.create(Math, {
      ...Object.getOwnPropertyDescriptors(Math),
      random: { value: () => here().random.fraction() },
    }) as Math,
    crypto: {
      get subtle() {
        return here().crypto.subtle;
      },
      getRandomValues: (into: ArrayBufferView) => here().crypto.getRandomValues(into),
      randomUUID: () => here().crypto.randomUUID(),
    },
    fetch: (...args: Parameters<typeof fetch>) => here().fetch(...args),
    AbortSignal: IsolateAbortSignal,
    Request: IsolateRequest,
    Response: IsolateResponse,
    WebSocketPair: makeWebSocketPair,
    WebSocketRequestResponsePair: AutoResponse,
    WebSocket: SimulatedSocket,
    observe: (what: string) => here().observe(what),
    remembered,
    console: { log: say, info: say, warn: say, error: say, debug: say },
  };
  const self: object = { __proto__: globalThis, ...own };
  return { ...own, globalThis: self, self };
}

type Work = (...args: unknown[]) => void;

function timerOf(isRepeated: boolean): (work: Work, ms?: number, ...args: unknown[]) => number {
  return (work, ms = 0, ...args) =>
    Context.current().setTimer(() => carryOut(work, args), ms, isRepeated);
}

/** On the platform, an error that nobody catches ends no more than the callback, and is reported. */
function carryOut(work: Work, args: readonly unknown[]): void {
  try {
    work(...args);
  } catch (error) {
    void Promise.reject(error);
  }
}

function clearTimer(id: unknown): void {
  if (typeof id === "number") Context.current().clearTimer(id);
}

function dateOf(clock: () => number): DateConstructor {
  return class extends Date {
    constructor(...args: [] | [number]) {
      if (args.length === 0) super(clock());
      else super(...args);
    }

    static override now(): number {
      return clock();
    }
  } as unknown as DateConstructor;
}

function asText(value: unknown): string {
  if (value instanceof Error) return value.stack ?? String(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}
