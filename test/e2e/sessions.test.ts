/** Sessions side by side: each client receives its own messages, and a session that has ended is not found. */

import { describe, vi } from "vitest";

import { type Client, type Json, KINDS } from "../support/clients-face.ts";
import { endpointFor, test } from "../support/clients.ts";
import { textOf } from "./outcome.ts";

const SOON = { timeout: 30_000, interval: 20 };
const WATCHED = "test://watched-resource";

/** Every pair of kinds, each with itself too: both sides count their ids from the same number. */
const PAIRS = KINDS.flatMap((one, index) =>
  KINDS.slice(index).map((other) => [one, other] as const),
);

/** Asks for progress; what comes is looked at on the wire. */
function onprogress(): void {}

function updatesOf({ notifications }: Client): number {
  return notifications.filter(({ method }) => method === "notifications/resources/updated").length;
}

describe.each(PAIRS)("two clients at once, %s and %s", (...kinds) => {
  test("get their own answers, reports and questions", async ({ expect, connect }) => {
    const clients = await Promise.all(
      kinds.map((kind, index) =>
        connect(kind, endpointFor(kind, "fixture"), {
          answers: {
            sampling: () => ({
              model: "m",
              role: "assistant",
              content: { type: "text", text: `client ${index}` },
            }),
          },
        }),
      ),
    );
    const counts = [40, 70];
    const texts = await Promise.all(
      clients.map(async (client, index) => {
        await client.setLogLevel(index === 0 ? "info" : "error");
        const results: Json[] = await Promise.all([
          client.callTool("test_burst", { count: counts[index], bytes: 20 }, { onprogress }),
          client.callTool("test_sampling", { prompt: `of client ${index}` }),
          client.callTool("test_tool_with_logging"),
          client.callTool("test_list_roots"),
        ]);
        return results.map(textOf);
      }),
    );
    for (const [index, client] of clients.entries()) {
      expect(texts[index]?.slice(0, 2)).toEqual([
        `Sent ${counts[index]} notifications of 20 characters`,
        `LLM response: client ${index}`,
      ]);
      expect(client.progress).toHaveLength(counts[index] ?? 0);
      expect(client.asked.map(({ method }) => method).toSorted()).toEqual([
        "roots/list",
        "sampling/createMessage",
      ]);
      expect(JSON.stringify(client.asked)).toContain(`of client ${index}`);
      const logs = client.notifications.filter(({ method }) => method === "notifications/message");
      expect(logs).toHaveLength(index === 0 ? 3 : 0);
      expect(client.errors).toEqual([]);
    }
  });

  test("receive notifications of their own subscriptions", async ({ expect, connect }) => {
    const [follower, other] = await Promise.all([
      connect(kinds[0], endpointFor(kinds[0], "fixture")),
      connect(kinds[1], endpointFor(kinds[1], "fixture")),
    ]);
    await follower.watch(WATCHED);
    await other.watch();
    await vi.waitFor(async () => {
      await other.callTool("test_touch_watched");
      expect(updatesOf(follower)).toBeGreaterThan(0);
      await other.callTool("test_trigger_tool_change");
      expect(other.notifications).not.toEqual([]);
    }, SOON);
    expect(updatesOf(other)).toBe(0);
  });
});

describe.each(["v1-http", "v2-legacy"] as const)(
  "a session that its client has ended, %s",
  (kind) => {
    test.for(["fixture", "everything", "everything-sse", "demo"])(
      "at %s is answered with 404",
      async (slug, { expect, connect }) => {
        const url = endpointFor(kind, slug);
        const client = await connect(kind, url);
        const bystander = await connect(kind, url);
        const { sessionId = "" } = client;
        expect(sessionId).toMatch(/^[\x21-\x7e]{16,}$/);
        expect(bystander.sessionId).not.toBe(sessionId);
        await client.terminate();
        expect(client.sessionId).toBeUndefined();

        const headers = {
          Accept: "application/json, text/event-stream",
          "Content-Type": "application/json",
          "Mcp-Session-Id": sessionId,
          "MCP-Protocol-Version": "2025-11-25",
        };
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
        for (const init of [{ method: "POST", body }, { method: "GET" }, { method: "DELETE" }]) {
          const response = await fetch(url, { ...init, headers });
          expect(response.status).toBe(404);
          await response.body?.cancel();
        }
        expect(await bystander.listTools()).not.toEqual([]);
      },
    );
  },
);

test("a session exists at its own endpoint only", async ({ expect, connect }) => {
  const { sessionId = "" } = await connect("v1-http", endpointFor("v1-http", "fixture"));
  const strayed = await connect("v1-http", endpointFor("v1-http", "everything"), { sessionId });
  await expect(strayed.request("tools/list")).rejects.toMatchObject({ code: 404 });
});
