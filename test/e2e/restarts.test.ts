/**
 * An upstream that is restarted forgets its sessions. The client's session goes on under its own
 * id, with its subscriptions, and no call is ever sent twice.
 */

import { afterAll, beforeAll, type ExpectStatic, vi } from "vitest";

import type { Client, Connect } from "../support/clients-face.ts";
import { doorFor, test } from "../support/clients.ts";
import { freePort, NODE, type Program, ROOT, startProgram } from "../support/process.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { outcomeOf, textOf } from "./outcome.ts";
import { type RecordingProxy, startRecordingProxy } from "./recording-proxy.ts";

const EVERYTHING = `${ROOT}node_modules/@modelcontextprotocol/server-everything/dist/index.js`;
const SOON = { timeout: 20_000, interval: 50 };

interface Upstream {
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

const UPSTREAMS: Readonly<Record<string, Upstream>> = {
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

interface Scene {
  readonly upstream: Upstream;
  readonly slug: string;
  readonly proxy: RecordingProxy;
  readonly restart: () => Promise<void>;
  readonly connect: Connect;
  readonly expect: ExpectStatic;
}

/** Let in, as against refused at the door; HTTP+SSE takes a call with 202. */
const LET_IN: readonly unknown[] = [200, 202];

function runsOf(tool: string, { proxy }: Scene): number {
  return proxy.calls.filter((call) => call.tool === tool && LET_IN.includes(call.status)).length;
}

async function echo(client: Client, { upstream, expect }: Scene): Promise<void> {
  const text = textOf(await client.callTool(upstream.echo, { message: "hello" }));
  expect(text).toMatch(/Echo: hello|simple text response/);
}

const SCENARIOS = [
  {
    name: "between calls, and every session goes on",
    async play(scene: Scene) {
      const { upstream, slug, connect, expect, restart } = scene;
      const kinds = ["v1-http", "v1-sse", "v2-legacy"] as const;
      const clients = await Promise.all(
        kinds.map((kind) => connect(kind, doorFor(kind, slug, gateway.url))),
      );
      const ids = clients.map(({ sessionId }) => sessionId);
      for (const client of clients) await echo(client, scene);
      expect(runsOf(upstream.echo, scene)).toBe(3);

      await restart();
      // Several calls of one session find out together; each runs once.
      const again = [...clients, ...clients, ...clients];
      await Promise.all(again.map((client) => echo(client, scene)));
      expect(runsOf(upstream.echo, scene)).toBe(3 + again.length);
      expect(clients.map(({ sessionId }) => sessionId)).toEqual(ids);
      // The new session of the upstream can ask, as the old one could.
      for (const client of clients) {
        const result = await client.callTool(upstream.ask, { prompt: "hello" });
        expect(textOf(result)).toContain("You said: ");
      }
    },
  },
  {
    name: "in mid-call, which ends in an error and is not sent again",
    async play(scene: Scene) {
      const { upstream, slug, connect, expect, restart, proxy } = scene;
      const client = await connect("v1-http", doorFor("v1-http", slug, gateway.url));
      const { sessionId } = client;
      const [tool, args] = upstream.slow;
      const lost = outcomeOf(client.callTool(tool, { ...args }));
      const sent = () => proxy.calls.filter((call) => call.tool === tool);
      await vi.waitFor(() => expect(LET_IN).toContain(sent()[0]?.status), SOON);
      await restart();
      const outcome = await lost;
      expect(outcome).toMatchObject({ code: -32_603, data: { upstream: slug } });
      expect(outcome["message"]).toContain(`Upstream "${slug}"`);

      await echo(client, scene);
      expect(client.sessionId).toBe(sessionId);
      expect(sent()).toHaveLength(1);
    },
  },
  {
    name: "and subscriptions hold",
    async play({ upstream, slug, connect, expect, restart }: Scene) {
      const client = await connect("v1-http", doorFor("v1-http", slug, gateway.url));
      await client.watch(upstream.watched);
      await restart();
      // The first call finds out, and has the subscription made again before it runs.
      await vi.waitFor(async () => {
        await client.callTool(upstream.touch);
        const updates = client.heard.filter(({ method }) => method.endsWith("resources/updated"));
        expect(updates[0]?.params["uri"]).toBe(upstream.watched);
      }, SOON);
    },
  },
] as const;

const PLANS = Object.entries(UPSTREAMS).flatMap(([name, upstream]) =>
  SCENARIOS.map((scenario, index) => ({ name, upstream, scenario, slug: `${name}-${index}` })),
);

const places = new Map<string, { port: number; proxy: RecordingProxy }>();
let gateway: Server;

/** One gateway before all: an upstream for each test, of which only the port is fixed here. */
beforeAll(async () => {
  for (const { slug, upstream } of PLANS) {
    const port = await freePort();
    const proxy = await startRecordingProxy(`http://localhost:${port}${upstream.path}`);
    places.set(slug, { port, proxy });
  }
  const servers = [...places].map(([slug, { proxy }]) => [slug, { url: proxy.url }] as const);
  gateway = await startGateway({ servers: Object.fromEntries(servers) });
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([...places.values()].map(({ proxy }) => proxy.close()));
});

test.concurrent.for(PLANS)(
  "$name restarts $scenario.name",
  async ({ upstream, scenario, slug }, { expect, connect, onTestFinished }) => {
    const place = places.get(slug);
    if (place === undefined) throw new Error("no place");
    let program = await upstream.start(place.port);
    onTestFinished(() => program.stop("SIGKILL"));
    const restart = async (): Promise<void> => {
      await program.stop("SIGKILL");
      program = await upstream.start(place.port);
    };
    await scenario.play({ upstream, slug, proxy: place.proxy, restart, connect, expect });
  },
);
