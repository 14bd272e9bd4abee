/**
 * An isolate: the gateway's own bundle, evaluated with globals of its own. What its modules remember, they
 * remember in this isolate alone, and lose when it ends.
 */

import { Script } from "node:vm";

import { Context } from "./context.ts";
import { globalsOf, type Platform } from "./globals.ts";

/** A bundle that is ready to be evaluated again and again. */
export interface Program {
  readonly evaluate: (...args: unknown[]) => void;
}

/** The function that an edited program calls, to show what it does. */
const OBSERVER = "observe";

const NAMES = [
  ...["Date", "performance", "setTimeout", "setInterval", "clearTimeout", "clearInterval", "Math"],
  ...[
    "crypto",
    "fetch",
    "AbortSignal",
    "Request",
    "Response",
    "WebSocketPair",
    "WebSocket",
    "console",
  ],
  ...["globalThis", "self", OBSERVER],
];

/**
 * @param text a CommonJS module. It is one function for all isolates: what the host learns of its code in one
 *   is used in the next, without which every isolate is interpreted.
 */
export function programOf(text: string): Program {
  const source = `(function (exports, module, require, ${NAMES.join(", ")}) {${text}\n})`;
  const script = new Script(source, { filename: "gateway.js" });
  return { evaluate: script.runInThisContext() as Program["evaluate"] };
}

interface Exports {
  readonly default: {
    readonly fetch: (request: Request, env: object, ctx: object) => Promise<Response>;
  };
}

/** The base class of objects, of `cloudflare:workers`. */
class DurableObject {
  readonly ctx: object;
  readonly env: object;

  constructor(ctx: object, env: object) {
    this.ctx = ctx;
    this.env = env;
  }
}

function waitUntil(work: Promise<unknown>): void {
  Context.current().waitUntil(work);
}

export class Isolate {
  readonly name: string;
  /** What runs in it. */
  readonly contexts = new Set<Context>();
  isAlive = true;
  readonly #exports: Exports;
  readonly #env: object;

  constructor(name: string, program: Program, platform: Platform, env: object) {
    this.name = name;
    this.#env = env;
    const globals = globalsOf(platform);
    const module = { exports: {} };
    const load = (id: string): object => {
      if (id === "cloudflare:workers") return { DurableObject, env, waitUntil };
      throw new Error(`The bundle asks for ${id}`);
    };
    program.evaluate(module.exports, module, load, ...NAMES.map((global) => globals[global]));
    this.#exports = module.exports as Exports;
  }

  makeObject(className: string, state: object): object {
    const made = (this.#exports as unknown as Record<string, new (...args: object[]) => object>)[
      className
    ];
    if (made === undefined) throw new Error(`The bundle has no class ${className}`);
    return new made(state, this.#env);
  }

  /** Serves a request, in the context that runs. */
  serve(request: Request, waitUntil: (work: Promise<unknown>) => void): Promise<Response> {
    const ctx = { waitUntil, passThroughOnException: () => undefined };
    return this.#exports.default.fetch(request, this.#env, ctx);
  }

  /** The machine is gone, with everything that ran in it. */
  end(): void {
    this.isAlive = false;
    for (const context of [...this.contexts]) context.die();
  }
}
