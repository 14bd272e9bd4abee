/**
 * An isolate: the gateway's own bundle, and what its modules remember in this isolate alone, and lose when it
 * ends.
 */

import { Script } from "node:vm";

import { Context } from "./context.ts";
import { env, gatewayGlobals, type Platform } from "./globals.ts";

/** A bundle that was evaluated. */
export interface Program {
  readonly default: {
    readonly fetch: (request: Request, env: object, ctx: object) => Promise<Response>;
  };
}

/**
 * @param text a CommonJS module of `bundleGateway`. It is evaluated once: the host's compiler learns what it
 *   does in all isolates together, and an isolate costs nothing.
 */
export function programOf(text: string): Program {
  const globals = gatewayGlobals();
  const names = ["exports", "module", "require", ...Object.keys(globals)];
  const source = `(function (${names.join(", ")}) {${text}\n})`;
  const script = new Script(source, { filename: "gateway.js" });
  const evaluate = script.runInThisContext() as (...args: unknown[]) => void;
  const module = { exports: {} };
  evaluate(module.exports, module, required, ...Object.values(globals));
  return module.exports as Program;
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

function required(id: string): object {
  if (id === "cloudflare:workers") return { DurableObject, env, waitUntil };
  throw new Error(`The bundle asks for ${id}`);
}

export class Isolate {
  readonly name: string;
  /** What runs in it. */
  readonly contexts = new Set<Context>();
  isAlive = true;
  readonly platform: Platform;
  readonly #program: Program;

  constructor(name: string, program: Program, platform: Platform) {
    this.name = name;
    this.platform = platform;
    this.#program = program;
  }

  makeObject(className: string, state: object): object {
    const made = (this.#program as unknown as Record<string, new (...args: object[]) => object>)[
      className
    ];
    if (made === undefined) throw new Error(`The bundle has no class ${className}`);
    return new made(state, this.platform.env);
  }

  /** Serves a request, in the context that runs. */
  serve(request: Request, waitUntil: (work: Promise<unknown>) => void): Promise<Response> {
    const ctx = { waitUntil, passThroughOnException: () => undefined };
    return this.#program.default.fetch(request, this.platform.env, ctx);
  }

  /** The machine is gone, with everything that ran in it. */
  end(): void {
    this.isAlive = false;
    for (const context of [...this.contexts]) context.die();
  }
}
