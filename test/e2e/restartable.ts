/** The real servers, each to be started at a port of the test's choice, and again there. */

import { NODE, type Program, ROOT, startProgram } from "../support/process.ts";

const EVERYTHING = `${ROOT}node_modules/@modelcontextprotocol/server-everything/dist/index.js`;

export interface Upstream {
  readonly path: string;
  /** Starts it at a given port, where it can be started again. */
  start(port: number): Promise<Program>;
  readonly echo: string;
  readonly slow: readonly [tool: string, args: object];
  readonly ask: string;
  readonly watched: string;
  /** The tool that makes it send an update of what is watched. */
  readonly touch: string;
}

const everything = {
  echo: "echo",
  slow: ["trigger-long-running-operation", { duration: 60, steps: 600 }],
  ask: "trigger-sampling-request",
  watched: "demo://resource/dynamic/text/1",
  touch: "toggle-subscriber-updates",
} as const;

export const UPSTREAMS: Readonly<Record<string, Upstream>> = {
  fixture: {
    path: "/mcp",
    start: (port) =>
      startProgram({
        command: NODE,
        args: ["test/fixture-server/main.ts", String(port)],
        readyUrl: `http://localhost:${port}/mcp`,
      }),
    echo: "test_simple_text",
    slow: ["test_wait", { ms: 60_000 }],
    ask: "test_sampling",
    watched: "test://watched-resource",
    touch: "test_touch_watched",
  },
  everything: { ...everything, path: "/mcp", start: (port) => startEverything(port, "mcp") },
  "everything-sse": { ...everything, path: "/sse", start: (port) => startEverything(port, "sse") },
};

function startEverything(port: number, kind: "mcp" | "sse"): Promise<Program> {
  return startProgram({
    command: NODE,
    args: [EVERYTHING, kind === "sse" ? "sse" : "streamableHttp"],
    env: { PORT: String(port) },
    // `/sse` would stream for ever.
    readyUrl: `http://localhost:${port}/${kind === "sse" ? "message" : "mcp"}`,
  });
}
