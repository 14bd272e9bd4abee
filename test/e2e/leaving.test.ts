/**
 * Clients that go without a word: their connection is closed, and nothing is on its way to them
 * that could show it. The gateway has to find out by its keep-alive, and let go of what they held.
 */

import { afterAll, beforeAll, describe, vi } from "vitest";

import { endpointFor, test } from "../support/clients.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { textOf } from "./outcome.ts";
import { wiretap } from "./wiretap.ts";

/** Two heartbeats, and one more that a proxy on the way may swallow, with some to spare. */
const SOON = { timeout: 30_000, interval: 250 };
const MAX_STREAMS = 2;

let gateway: Server;

beforeAll(async () => {
  gateway = await startGateway({
    servers: {
      fixture: { url: sharedServers().fixture },
      everything: { url: sharedServers().everything },
    },
    limits: { keepAliveSeconds: 1, openStreamsPerSession: MAX_STREAMS },
  });
});
afterAll(() => gateway.stop());

test.concurrent("an HTTP+SSE session ends with its stream", async ({ expect, connect }) => {
  const tap = wiretap();
  let endpoint: string | undefined;
  const client = await connect("v1-sse", endpointFor("v1-sse", "fixture", gateway.url), {
    fetch: (input, init) => {
      if (init?.method === "POST") endpoint = new Request(input).url;
      return tap.fetch(input, init);
    },
  });
  const post = (): Promise<Response> =>
    fetch(endpoint ?? "", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/roots/list_changed" }),
    });
  expect((await post()).status).toBe(202);
  await client.disconnect();
  await vi.waitFor(async () => expect((await post()).status).toBe(404), SOON);
});

test.concurrent("the streams of a session that no client reads make room for others", async ({
  expect,
  connect,
}) => {
  const url = endpointFor("v1-http", "fixture", gateway.url);
  const { sessionId = "" } = await connect("v1-http", url);
  const openStream = async (): Promise<number> => {
    const leave = new AbortController();
    const headers = { Accept: "text/event-stream", "Mcp-Session-Id": sessionId };
    const { status } = await fetch(url, { headers, signal: leave.signal });
    leave.abort();
    return status;
  };
  // Each is left as soon as it is open; a client whose network is poor does that all day.
  for (let count = 0; count < MAX_STREAMS + 1; count++) {
    await vi.waitFor(async () => expect(await openStream()).toBe(200), SOON);
  }
});

describe("a modern client that disconnects in mid-call cancels the call, however rarely streams send keep-alives", () => {
  const LONG_MS = 300_000;
  let rarely: Server;

  beforeAll(async () => {
    const url = sharedServers().fixture;
    rarely = await startGateway({
      servers: { fixture: { url }, older: { url, era: "legacy" } },
      limits: { keepAliveSeconds: 300 },
    });
  });
  afterAll(() => rarely.stop());

  test.for(["fixture", "older"])("at the endpoint %s", async (server, { expect, connect }) => {
    const tap = wiretap();
    const url = `${rarely.url}/mcp/${server}`;
    const client = await connect("v2-modern", url, { fetch: tap.fetch });
    const cancelledCount = async (): Promise<number> =>
      Number(textOf(await client.callTool("test_cancelled_count")));
    const before = await cancelledCount();
    const leave = new AbortController();
    const noted = tap.noted.length;
    const call = client.callTool("test_wait", { ms: LONG_MS }, { signal: leave.signal });
    const gaveUp = expect(call).rejects.toThrow("no longer needed");
    // The answer has become a stream, on which nothing comes.
    await vi.waitFor(() => expect(tap.noted.length).toBe(noted + 1), SOON);
    leave.abort(new Error("no longer needed"));
    await gaveUp;
    await vi.waitFor(async () => expect(await cancelledCount()).toBe(before + 1), SOON);
  });
});
