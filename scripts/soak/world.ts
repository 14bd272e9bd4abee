/** Where the clients of a soak live: the gateway, the servers behind it, and what has been found. */

import { buildGateway, type Bundle } from "../../bench/machinery/bundle.ts";
import { startProgram } from "../../bench/machinery/children.ts";
import { inRoot, NODE } from "../../bench/machinery/project.ts";
import { startWorkerd, type Workerd } from "../../bench/machinery/workerd.ts";
import { startAskingUpstream } from "../../test/support/asking-upstream.ts";
import { freePort } from "../../test/support/free-port.ts";
import { startStreamingUpstream } from "../../test/support/streaming-upstream.ts";
import { collectedHeap } from "./heap.ts";

/** Nothing that is on its way takes so long, also while the gateway is killed and started. */
const PATIENCE_MS = 60_000;
/** Enough of what went wrong to see what it has in common. */
const MAX_FAILURES = 20;

export class World {
  readonly counts = new Map<string, number>();
  readonly failures: string[] = [];
  readonly #bundle: Bundle;
  readonly #vars: Readonly<Record<string, string>>;
  readonly #closing: readonly (() => Promise<void>)[];
  #gateway: Workerd;
  /** Resolves when the gateway serves. */
  #up: Promise<void> = Promise.resolve();

  private constructor(
    bundle: Bundle,
    vars: Readonly<Record<string, string>>,
    gateway: Workerd,
    closing: readonly (() => Promise<void>)[],
  ) {
    this.#bundle = bundle;
    this.#vars = vars;
    this.#gateway = gateway;
    this.#closing = closing;
  }

  static async start(): Promise<World> {
    const bundle = buildGateway();
    const streams = await startStreamingUpstream();
    const asks = await startAskingUpstream(true);
    const port = await freePort();
    const watched = `http://localhost:${port}/mcp`;
    const main = inRoot("test", "fixture-server", "main.ts");
    const fixture = await startProgram(NODE, [main, String(port)], watched);
    const servers = {
      streams: { url: streams.url },
      asks: { url: asks.url },
      watched: { url: watched },
    };
    const limits = {
      keepAliveSeconds: 1,
      quietSeconds: 2,
      lingerSeconds: 2,
      streamAfterSeconds: 1,
    };
    const many = { requestsPerMinute: 1_000_000, streamOpensPerMinute: 10_000 };
    const vars = {
      AUTH_MODE: "none",
      MCP_SERVERS: JSON.stringify(servers),
      LIMITS: JSON.stringify({ ...limits, ...many }),
    };
    const gateway = await startWorkerd([{ bundle, vars }]);
    return new World(bundle, vars, gateway, [
      () => streams.close(),
      () => asks.close(),
      () => fixture.stop(),
    ]);
  }

  get pid(): number {
    return this.#gateway.pid;
  }

  /** Where a server is reached through the gateway. */
  at(server: "streams" | "asks" | "watched"): string {
    return `${this.#gateway.origins[0]}/mcp/${server}`;
  }

  isUp(): Promise<void> {
    return this.#up;
  }

  /** Kills the gateway, and starts it again on what it has stored. */
  async restart(): Promise<void> {
    this.count("kills of the gateway");
    const { place } = this.#gateway;
    this.#up = this.#gateway.stop().then(async () => {
      this.#gateway = await startWorkerd([{ bundle: this.#bundle, vars: this.#vars }], place);
    });
    await this.#up;
  }

  heap(): Promise<number> {
    return collectedHeap(this.#gateway.inspector, this.#bundle.name);
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  fail(what: string): void {
    this.count("failures");
    if (this.failures.length === MAX_FAILURES) return;
    this.failures.push(what);
    // At once: who watches need not wait for the end.
    process.stdout.write(`FAILED ${what}\n`);
  }

  /** @throws Error when it takes longer than anything should: then nobody will answer. */
  async answered<T>(what: string, promise: Promise<T>): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const why = `${what}: no answer within ${PATIENCE_MS / 1000} s`;
    const timer = setTimeout(() => reject(new Error(why)), PATIENCE_MS);
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await this.#gateway.stop();
    await Promise.all(this.#closing.map((close) => close()));
  }
}
