/** The real servers that tests stand behind the gateway, and the gateway itself. */

import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";

import { freePort } from "./free-port.ts";
import { OWNER_CODE } from "./oauth-owner.ts";
import { NODE, type Program, type ProgramOptions, ROOT, startProgram } from "./process.ts";
import { type Bundle, type WorkerOptions, workerdConfig } from "./workerd-config.ts";

export interface Server {
  readonly url: string;
  readonly program: Program;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const WORKERD = `${ROOT}node_modules/.bin/workerd`;
const TAIL: Bundle = {
  ...{ name: "span-tail", path: `${ROOT}test/support/span-tail.mjs`, data: [], objects: [] },
  ...{ compatibilityDate: "2026-10-23", compatibilityFlags: ["streaming_tail_worker"] },
};
const EVERYTHING = `${ROOT}node_modules/@modelcontextprotocol/server-everything/dist/index.js`;

/** Our own conformance fixture: the official SDK v2, both eras. */
export async function startFixture(): Promise<Server> {
  const port = await freePort();
  const url = `http://localhost:${port}/mcp`;
  const args = ["test/fixture-server/main.ts", String(port)];
  const program = await startProgram({ command: NODE, args, readyUrl: url });
  return { url, program, stop: (signal) => program.stop(signal) };
}

/** `@modelcontextprotocol/server-everything`: the official SDK v1, legacy only. */
export async function startEverything(transport: "streamableHttp" | "sse"): Promise<Server> {
  const port = await freePort();
  const url = `http://localhost:${port}/${transport === "sse" ? "sse" : "mcp"}`;
  const program = await startProgram({
    command: NODE,
    args: [EVERYTHING, transport],
    env: { PORT: String(port) },
    // `/sse` would stream for ever.
    readyUrl: `http://localhost:${port}/${transport === "sse" ? "message" : "mcp"}`,
  });
  return { url, program, stop: (signal) => program.stop(signal) };
}

/** Where a server listens and stores: a free port and a new folder, unless given. */
interface Place {
  readonly port?: number;
  readonly persistTo?: string;
}

export interface GatewayOptions extends Place {
  /** `none` if not said. `oauth` is the default, so nothing but the owner's code is passed for it. */
  readonly auth?: "none" | "oauth";
  readonly servers?: Readonly<Record<string, object>>;
  readonly limits?: Readonly<Record<string, number>>;
  readonly vars?: Readonly<Record<string, string>>;
  /** Prints the spans of its requests, as `spansIn` reads them: then they are sampled. */
  readonly isTraced?: boolean;
  /** Those that the run has made, unless given. */
  readonly bundles?: Bundles;
}

/** What the gateway of a test is made of, built once for all of a run. */
export interface Bundles {
  readonly gateway: Bundle;
  readonly demo: Bundle;
}

/**
 * The deployed bundle on bare workerd, with the demo upstream beside it. A test of what `npm start`
 * puts before it, or around it, starts that (`startWithNpm`), for which wrangler bundles the Worker anew.
 *
 * @returns the origin it serves.
 */
export async function startGateway(options: GatewayOptions = {}): Promise<Server> {
  const { isTraced = false } = options;
  const { gateway, demo } = options.bundles ?? inject("bundles");
  const services = { DEMO: demo.name };
  return startOn({
    ...options,
    ready: "/health",
    commandOf: onWorkerd([
      { bundle: gateway, vars: varsOf(options), services, ...(isTraced && { tails: [TAIL.name] }) },
      { bundle: demo },
      ...(isTraced ? [{ bundle: TAIL }] : []),
    ]),
  });
}

/** The demo upstream, as a server of its own. */
export async function startDemo(options: Place = {}): Promise<Server> {
  const commandOf = onWorkerd([{ bundle: inject("bundles").demo }]);
  const server = await startOn({ ...options, ready: "/mcp", commandOf });
  return { ...server, url: `${server.url}/mcp` };
}

/** A Worker that reaches the demo upstream as `MCP`. @returns its origin. */
export function startBeforeDemo(bundle: Bundle): Promise<Server> {
  const { demo } = inject("bundles");
  const workers = [{ bundle, services: { MCP: demo.name } }, { bundle: demo }];
  return startOn({ ready: "/mcp", commandOf: onWorkerd(workers) });
}

/** The gateway as `npm start` runs it: `wrangler dev` behind a reverse proxy. */
export function startWithNpm(options: GatewayOptions = {}): Promise<Server> {
  const commandOf: CommandOf = (port, folder) => ({
    command: NODE,
    args: [
      "scripts/start.mjs",
      ...["--port", String(port), "--inspector-port", "0", "--persist-to", folder],
      ...Object.entries(varsOf(options)).flatMap(([name, value]) => ["--var", `${name}:${value}`]),
    ],
  });
  return startOn({ ...options, ready: "/health", commandOf });
}

type CommandOf = (port: number, folder: string) => Pick<ProgramOptions, "command" | "args">;

/** The first of the Workers is served; it reaches the others by its bindings. */
function onWorkerd(workers: readonly WorkerOptions[]): CommandOf {
  return (port, folder) => {
    const config = join(folder, "workerd.capnp");
    writeFileSync(config, workerdConfig(workers, [port], folder));
    return { command: WORKERD, args: ["serve", "--experimental", config] };
  };
}

async function startOn({
  port: wanted,
  persistTo,
  ready,
  commandOf,
}: Place & { readonly ready: string; readonly commandOf: CommandOf }): Promise<Server> {
  const port = wanted ?? (await freePort());
  const url = `http://localhost:${port}`;
  const folder = persistTo ?? (await mkdtemp(join(tmpdir(), "edgeway-")));
  const program = await startProgram({ ...commandOf(port, folder), readyUrl: url + ready });
  return {
    url,
    program,
    stop: async (signal) => {
      await program.stop(signal);
      if (persistTo === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

function varsOf({ auth, servers, limits, vars }: GatewayOptions): Record<string, string> {
  return {
    ...(auth === "oauth" ? { OWNER_CODE } : { AUTH_MODE: "none" }),
    ...(servers === undefined ? {} : { MCP_SERVERS: JSON.stringify(servers) }),
    ...(limits === undefined ? {} : { LIMITS: JSON.stringify(limits) }),
    ...vars,
  };
}
