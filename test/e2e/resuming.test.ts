/** Streams that break and go on: the upstream's, the client's, or both. Nothing is lost or doubled. */

import { randomUUID } from "node:crypto";
import { describe, vi } from "vitest";

import { endpointFor, test } from "../support/clients.ts";
import { cutInMidCall } from "./cut-in-mid-call.ts";
import { textOf } from "./outcome.ts";
import { wiretap } from "./wiretap.ts";

describe.concurrent.each(["v1-http", "v1-sse", "v2-legacy"] as const)(
  "a polling upstream, %s",
  (kind) => {
    test("is polled again by the gateway, and answers", async ({ expect, connect }) => {
      const client = await connect(kind, endpointFor(kind, "fixture"));
      const result = await client.callTool("test_reconnection");
      expect(textOf(result)).toBe("The answer after the reconnection");
      expect(client.replies).toHaveLength(1);
      expect(client.errors).toEqual([]);
    });
  },
);

test.concurrent("the client is disconnected too, and reconnects for the answer", async ({
  expect,
  connect,
}) => {
  const tap = wiretap();
  const client = await connect("v1-http", endpointFor("v1-http", "fixture"), { fetch: tap.fetch });
  await client.callTool("test_reconnection");
  const calls = tap.noted.filter(({ rpc }) => rpc === "tools/call");
  const resumed = tap.noted.filter(({ lastEventId }) => lastEventId !== null);
  expect(calls).toHaveLength(1);
  expect(resumed).toMatchObject([{ http: "GET", status: 200 }]);
});

describe.concurrent.each(["v1-http", "v2-legacy"] as const)(
  "a connection that breaks in mid-call, %s",
  (kind) => {
    test("is resumed by the SDK itself", async ({ expect, connect }) => {
      const tap = wiretap();
      const client = await connect(kind, endpointFor(kind, "fixture"), { fetch: tap.fetch });
      const result = await cutInMidCall(client, tap);
      expect(textOf(result)).toMatch("Let go");
      expect(client.progress.map(({ progress }) => progress)).toEqual([1, 2]);
      // It, and the one that let it go.
      expect(tap.noted.filter(({ rpc }) => rpc === "tools/call")).toHaveLength(2);
      expect(tap.noted.filter(({ lastEventId }) => lastEventId !== null)).toHaveLength(1);
    });
  },
);

test.concurrent("another client of the session fetches the answer with a resumption token", async ({
  expect,
  connect,
}) => {
  const url = endpointFor("v1-http", "fixture");
  const first = await connect("v1-http", url);
  const { sessionId = "" } = first;
  let token = "";
  const onresumptiontoken = (latest: string): void => {
    token = latest;
  };
  await first.setLogLevel("info");
  const name = randomUUID();
  const call = first.callTool("test_hold", { name }, { onresumptiontoken });
  const broken = expect(call).rejects.toThrow("Connection closed");
  await vi.waitFor(() => expect(first.notifications).not.toEqual([]), {
    timeout: 30_000,
    interval: 5,
  });
  await first.disconnect();
  await broken;

  const second = await connect("v1-http", url, { sessionId });
  await second.callTool("test_release", { name });
  const result = await second.callTool("test_hold", {}, { resumptionToken: token });
  expect(textOf(result)).toBe(`Let go: ${name}`);
  const lines = [...first.notifications, ...second.notifications].map(
    ({ params }) => params["data"],
  );
  expect(lines).toEqual(["held", "let go"]);
  expect(second.sessionId).toBe(sessionId);
});

test.concurrent("an answer that came while no client was connected is kept", async ({
  expect,
  connect,
}) => {
  const url = endpointFor("v1-http", "fixture");
  const tap = wiretap();
  const first = await connect("v1-http", url, { fetch: tap.fetch });
  const { sessionId = "" } = first;
  const tokens: string[] = [];
  const onresumptiontoken = (latest: string): void => void tokens.push(latest);
  const name = randomUUID();
  const call = first.callTool("test_hold", { name }, { onresumptiontoken });
  const broken = expect(call).rejects.toThrow("Connection closed");
  await vi.waitFor(() => expect(tokens).not.toEqual([]), { timeout: 30_000, interval: 5 });
  await first.disconnect();
  await broken;

  const second = await connect("v1-http", url, { sessionId });
  await second.callTool("test_release", { name });
  // What began later has come back, so the answer is there by now.
  await second.callTool("test_wait", { ms: 100 });
  const resumptionToken = tokens[0] ?? "";
  const results = await Promise.all([
    second.callTool("test_hold", {}, { resumptionToken }),
    second.callTool("test_simple_text"),
  ]);
  expect(results.map(textOf)).toEqual([
    `Let go: ${name}`,
    "This is a simple text response for testing.",
  ]);
});

describe.each(["v1-http", "v2-legacy"] as const)(
  "a notification stream that breaks, %s,",
  (kind) => {
    test("is resumed with every message of the gap, each once", async ({ expect, connect }) => {
      const url = endpointFor(kind, "fixture");
      const tap = wiretap();
      const client = await connect(kind, url, { fetch: tap.fetch });
      const other = await connect(kind, url);
      const changes = (list: string): number =>
        client.notifications.filter(({ method }) => method === `notifications/${list}/list_changed`)
          .length;
      const updates = (): number =>
        client.notifications.filter(({ method }) => method === "notifications/resources/updated")
          .length;
      const opened = expect.objectContaining({ http: "GET", status: 200 });
      await vi.waitFor(() => expect(tap.noted).toContainEqual(opened), { timeout: 30_000 });
      await client.watch("test://watched-resource");
      await other.callTool("test_touch_watched");
      await vi.waitFor(() => expect(updates()).toBe(1), { timeout: 30_000 });
      await other.callTool("test_trigger_tool_change");
      await vi.waitFor(() => expect(changes("tools")).toBe(1), { timeout: 30_000 });
      tap.cut("news");
      await other.callTool("test_touch_watched");
      for (let n = 0; n < 5; n++) await other.callTool("test_trigger_tool_change");
      await vi.waitFor(
        () => {
          expect(changes("tools")).toBe(6);
          expect(updates()).toBe(2);
        },
        { timeout: 30_000 },
      );
      const resumed = tap.noted.filter(({ lastEventId }) => lastEventId !== null);
      expect(resumed).toMatchObject([{ http: "GET", status: 200 }]);
      await other.callTool("test_touch_watched");
      await vi.waitFor(() => expect(updates()).toBe(3), { timeout: 30_000 });
    });
  },
);
