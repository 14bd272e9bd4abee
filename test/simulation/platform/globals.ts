/** What code in an isolate finds as its globals: the platform's, over the simulated clock and network. */

import { IsolateAbortSignal } from "./abort.ts";
import { Context } from "./context.ts";
import { cryptoOf } from "./crypto.ts";
import { fetchOver, type Network } from "./network.ts";
import type { Random } from "./random.ts";
import { IsolateRequest, IsolateResponse } from "./request-response.ts";
import type { Scheduler } from "./scheduler.ts";
import { makeWebSocketPair, SimulatedSocket } from "./sockets.ts";

export interface Platform {
  readonly scheduler: Scheduler;
  /** The machine's own clock, in milliseconds since 1970: it may jump. */
  readonly clock: () => number;
  readonly random: Random;
  readonly network: Network;
  readonly log: (line: string) => void;
  /** Called by a program that was edited to show what it does. */
  readonly observe: (what: string) => void;
}

export function globalsOf({
  scheduler,
  clock,
  random,
  network,
  log,
  observe,
}: Platform): Record<string, unknown> {
  const startedAt = scheduler.now;
  const say = (...args: unknown[]): void => log(args.map(asText).join(" "));
  const own = {
    Date: dateOf(clock),
    performance: { now: () => scheduler.now - startedAt },
    setTimeout: timerOf(false),
    setInterval: timerOf(true),
    clearTimeout: clearTimer,
    clearInterval: clearTimer,
    Math: Object.create(Math, {
      ...Object.getOwnPropertyDescriptors(Math),
      random: { value: () => random.fraction() },
    }) as Math,
    crypto: cryptoOf(scheduler.hostWork, random),
    fetch: fetchOver(network),
    AbortSignal: IsolateAbortSignal,
    Request: IsolateRequest,
    Response: IsolateResponse,
    WebSocketPair: makeWebSocketPair,
    WebSocket: SimulatedSocket,
    observe,
    console: { log: say, info: say, warn: say, error: say, debug: say },
  };
  const self: object = { __proto__: globalThis, ...own };
  return { ...own, globalThis: self, self };
}

type Work = (...args: unknown[]) => void;

function timerOf(isRepeated: boolean): (work: Work, ms?: number, ...args: unknown[]) => number {
  return (work, ms = 0, ...args) => Context.current().setTimer(() => work(...args), ms, isRepeated);
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
