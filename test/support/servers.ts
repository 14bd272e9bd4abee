/** The real servers that tests stand behind the gateway, and the gateway itself. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { OWNER_CODE } from "./oauth-owner.ts";
import { freePort } from "./free-port.ts";
import { NODE, type Program, ROOT, startProgram } from "./process.ts";

export interface Server {
  readonly url: string;
  readonly program: Program;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

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

export interface GatewayOptions {
  /**
   * `none` if not said. `oauth` is the default of `npm start`, so nothing but the owner's code is
   * passed for it.
   */
  readonly auth?: "none" | "oauth";
  readonly port?: number;
  readonly servers?: Readonly<Record<string, object>>;
  readonly limits?: Readonly<Record<string, number>>;
  readonly vars?: Readonly<Record<string, string>>;
  readonly persistTo?: string;
}

/** The gateway as `npm start` runs it. @returns the origin it serves. */
export async function startGateway(options: GatewayOptions = {}): Promise<Server> {
  const port = options.port ?? (await freePort());
  const url = `http://localhost:${port}`;
  const state = options.persistTo ?? (await mkdtemp(join(tmpdir(), "edgeway-")));
  const vars = {
    ...(options.auth === "oauth" ? { OWNER_CODE } : { AUTH_MODE: "none" }),
    ...(options.servers === undefined ? {} : { MCP_SERVERS: JSON.stringify(options.servers) }),
    ...(options.limits === undefined ? {} : { LIMITS: JSON.stringify(options.limits) }),
    ...options.vars,
  };
  const program = await startProgram({
    command: NODE,
    args: [
      "scripts/start.mjs",
      ...["--port", String(port), "--inspector-port", "0", "--persist-to", state],
      ...Object.entries(vars).flatMap(([name, value]) => ["--var", `${name}:${value}`]),
    ],
    readyUrl: `${url}/health`,
  });
  return {
    url,
    program,
    stop: async (signal) => {
      await program.stop(signal);
      if (options.persistTo === undefined) await rm(state, { recursive: true, force: true });
    },
  };
}
