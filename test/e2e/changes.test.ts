/** News of the server's: updates of resources subscribed to, and changes of its lists. */

import { describe, vi } from "vitest";

import { type Client, KINDS } from "../support/clients-face.ts";
import { endpointFor, test } from "../support/clients.ts";
import { textOf } from "./outcome.ts";

const SOON = { timeout: 30_000, interval: 20 };
const WATCHED = "test://watched-resource";
const KETTLE = "teahouse://kettle";

function updatesOf({ notifications }: Client, uri: string): number {
  return notifications.filter(
    ({ method, params }) => method === "notifications/resources/updated" && params["uri"] === uri,
  ).length;
}

function changesOf({ notifications }: Client, list: string): number {
  return notifications.filter(({ method }) => method === `notifications/${list}/list_changed`)
    .length;
}

async function namesIn(client: Client, list: "tools" | "prompts" | "resources"): Promise<string[]> {
  const result = await client.request(`${list}/list`);
  return (result[list] as { name: string }[]).map(({ name }) => name);
}

describe.each(KINDS)("a notification of the fixture, %s,", (kind) => {
  const url = endpointFor(kind, "fixture");

  test("of a changed resource arrives once, and not after the subscription has ended", async ({
    expect,
    connect,
  }) => {
    const client = await connect(kind, url);
    /** What is announced last is here, so nothing else is on its way any more. */
    const settle = async (): Promise<void> => {
      const changes = changesOf(client, "tools");
      await client.callTool("test_trigger_tool_change");
      await vi.waitFor(() => expect(changesOf(client, "tools")).toBe(changes + 1), SOON);
    };
    const stop = await client.watch(WATCHED);
    // In the legacy era the stream for news opens in its own time, so the first is tried for.
    await vi.waitFor(async () => {
      await client.callTool("test_touch_watched");
      expect(updatesOf(client, WATCHED)).toBeGreaterThan(0);
    }, SOON);
    await settle();
    const first = updatesOf(client, WATCHED);
    // One after the other: a second change before the notification leads to one notification.
    for (let touch = 1; touch <= 5; touch++) {
      await client.callTool("test_touch_watched");
      await vi.waitFor(() => expect(updatesOf(client, WATCHED)).toBe(first + touch), SOON);
    }

    await stop();
    await client.watch();
    await client.callTool("test_touch_watched");
    await settle();
    expect(updatesOf(client, WATCHED)).toBe(first + 5);
    expect(client.errors).toEqual([]);
  });

  test("of a changed list arrives", async ({ expect, connect }) => {
    const client = await connect(kind, url);
    await client.watch();
    await vi.waitFor(async () => {
      await client.callTool("test_trigger_tool_change");
      expect(changesOf(client, "tools")).toBeGreaterThan(0);
    }, SOON);
    expect(changesOf(client, "prompts")).toBe(0);
    await client.callTool("test_trigger_prompt_change");
    await vi.waitFor(() => expect(changesOf(client, "prompts")).toBe(1), SOON);
  });
});

describe.each([
  ["v1-http", "everything"],
  ["v1-sse", "everything"],
  ["v2-legacy", "everything"],
  ["v1-http", "everything-sse"],
  ["v1-sse", "everything-sse"],
] as const)("a notification of server-everything, %s at %s,", (kind, slug) => {
  test("arrives for each subscribed resource", async ({ expect, connect }) => {
    const [left, kept] = ["demo://resource/dynamic/text/1", "demo://resource/dynamic/text/2"];
    const client = await connect(kind, endpointFor(kind, slug));
    const stop = await client.watch(left);
    await client.watch(kept);
    const toggle = async (word: string): Promise<void> => {
      expect(textOf(await client.callTool("toggle-subscriber-updates"))).toContain(word);
    };
    // It sends one round at once, and the next in five seconds.
    await vi.waitFor(async () => {
      await toggle("Started");
      await toggle("Stopped");
      expect(updatesOf(client, kept)).toBeGreaterThan(0);
    }, SOON);
    // Each round so far was of both; the one to come is of one.
    const difference = (): number => updatesOf(client, kept) - updatesOf(client, left);
    await vi.waitFor(() => expect(difference()).toBe(0), SOON);
    await stop();
    await toggle("Started");
    await vi.waitFor(() => expect(difference()).toBe(1), SOON);
    await toggle("Stopped");
  });
});

describe.each(KINDS)("the demo's garden, %s", (kind) => {
  test("opens and closes, and announces both", async ({ expect, connect }) => {
    const client = await connect(kind, endpointFor(kind, "demo"));
    await client.callTool("open_garden", { open: false });
    await client.watch();
    // The notification stream may not be open yet, so the gate is swung until a notification arrives.
    await vi.waitFor(async () => {
      await client.callTool("open_garden");
      expect(changesOf(client, "tools")).toBeGreaterThan(0);
    }, SOON);
    await client.callTool("open_garden", { open: true });
    await vi.waitFor(() => {
      expect(changesOf(client, "prompts")).toBeGreaterThan(0);
      expect(changesOf(client, "resources")).toBeGreaterThan(0);
    }, SOON);
    expect(await namesIn(client, "tools")).toContain("feed_koi");
    expect(await namesIn(client, "prompts")).toContain("moon_viewing");
    expect(await namesIn(client, "resources")).toContain("garden");
    expect(textOf(await client.callTool("feed_koi"))).toContain("Nine koi arrive");

    const changes = changesOf(client, "tools");
    await client.callTool("open_garden", { open: false });
    await vi.waitFor(() => expect(changesOf(client, "tools")).toBeGreaterThan(changes), SOON);
    expect(await namesIn(client, "tools")).not.toContain("feed_koi");
    expect(await namesIn(client, "prompts")).not.toContain("moon_viewing");
    expect(await namesIn(client, "resources")).not.toContain("garden");
  });
});

test("the demo's kettle notifies every client that watches it", async ({ expect, connect }) => {
  // It changes every three seconds, so all listen at once.
  const clients = await Promise.all(KINDS.map((kind) => connect(kind, endpointFor(kind, "demo"))));
  const deaf = await connect("v1-http", endpointFor("v1-http", "demo"));
  for (const client of clients) await client.watch(KETTLE);
  await vi.waitFor(() => {
    expect(
      clients.filter((client) => updatesOf(client, KETTLE) === 0).map(({ kind }) => kind),
    ).toEqual([]);
  }, SOON);
  expect(deaf.notifications).toEqual([]);
});
