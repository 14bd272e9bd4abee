/**
 * An upstream that is restarted forgets its sessions, and connections break. The client's session
 * goes on under its own id, with its subscriptions, and no call is ever sent twice.
 */

import { afterAll, beforeAll, type ExpectStatic, vi } from "vitest";

import type { Client, Connect } from "../support/clients-face.ts";
import { endpointFor, test } from "../support/clients.ts";
import { freePort } from "../support/free-port.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { outcomeOf, textOf } from "./outcome.ts";
import { type RecordingProxy, startRecordingProxy } from "./recording-proxy.ts";
import { type Upstream, UPSTREAMS } from "./restartable.ts";

const SOON = { timeout: 30_000, interval: 50 };

interface Scene {
  readonly upstream: Upstream;
  readonly slug: string;
  readonly proxy: RecordingProxy;
  readonly restart: () => Promise<void>;
  readonly connect: Connect;
  readonly expect: ExpectStatic;
}

/** Accepted, as against refused at once; HTTP+SSE takes a call with 202. */
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
    name: "restarts between calls, and every session goes on",
    async play(scene: Scene) {
      const { upstream, slug, connect, expect, restart } = scene;
      const kinds = ["v1-http", "v1-sse", "v2-legacy"] as const;
      const clients = await Promise.all(
        kinds.map((kind) => connect(kind, endpointFor(kind, slug, gateway.url))),
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
    name: "restarts in mid-call, which ends in an error and is not sent again",
    async play(scene: Scene) {
      const { upstream, slug, connect, expect, restart, proxy } = scene;
      const client = await connect("v1-http", endpointFor("v1-http", slug, gateway.url));
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
    name: "loses a connection in mid-call, and nothing is sent again",
    async play(scene: Scene) {
      const { upstream, slug, connect, expect, proxy } = scene;
      const client = await connect("v1-http", endpointFor("v1-http", slug, gateway.url));
      const [tool, args] = upstream.slow;
      const controller = new AbortController();
      const { signal } = controller;
      const tokens: string[] = [];
      const onresumptiontoken = (token: string): void => void tokens.push(token);
      const options = { signal, onresumptiontoken };
      const call = outcomeOf(client.callTool(tool, { ...args }, options));
      const sent = () => proxy.calls.filter((one) => one.tool === tool);
      // The upstream has said where it can be taken up: before that a cut would be its end.
      await vi.waitFor(() => expect(tokens).not.toEqual([]), SOON);
      // Over HTTP+SSE its events may come before the 202 of the call, which a cut would take along.
      await vi.waitFor(() => expect(LET_IN).toContain(sent()[0]?.status), SOON);
      proxy.cut();
      // Where the upstream has event ids its stream is taken up again, and the call goes on.
      await echo(client, scene);
      controller.abort(new Error("enough"));
      const { message } = await call;
      expect(message).toMatch(upstream.path === "/sse" ? /closed its stream/ : /enough/);
      expect(sent()).toHaveLength(1);
    },
  },
  {
    name: "restarts, and subscriptions hold",
    async play({ upstream, slug, connect, expect, restart }: Scene) {
      const client = await connect("v1-http", endpointFor("v1-http", slug, gateway.url));
      await client.watch(upstream.watched);
      await restart();
      // The first call finds out, and has the subscription made again before it runs.
      await vi.waitFor(async () => {
        await client.callTool(upstream.touch);
        const updates = client.notifications.filter(({ method }) =>
          method.endsWith("resources/updated"),
        );
        expect(updates[0]?.params["uri"]).toBe(upstream.watched);
      }, SOON);
    },
  },
  {
    name: "restarts, and who only listens goes on hearing",
    async play({ upstream, slug, connect, expect, restart }: Scene) {
      const url = endpointFor("v1-http", slug, gateway.url);
      const listener = await connect("v1-http", url);
      const other = await connect("v1-http", url);
      const updates = (): number =>
        listener.notifications.filter(({ method }) => method.endsWith("resources/updated")).length;
      await listener.watch(upstream.watched);
      const touch = async (atLeast: number): Promise<void> => {
        await other.callTool(upstream.touch);
        expect(updates()).toBeGreaterThan(atLeast);
      };
      await vi.waitFor(() => touch(0), SOON);
      await restart();
      // The listener sends no more requests: only the gateway can find out for it.
      const before = updates();
      await vi.waitFor(() => touch(before), SOON);
    },
  },
] as const;

const PLANS = Object.entries(UPSTREAMS).flatMap(([name, upstream]) =>
  SCENARIOS.map((scenario, index) => ({
    name,
    upstream,
    scenario,
    slug: `${name}-${index}`,
  })).filter(
    // server-everything sends updates to the session only that asks for them.
    ({ scenario }) => name === "fixture" || !scenario.name.includes("only listens"),
  ),
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
  "$name $scenario.name",
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
