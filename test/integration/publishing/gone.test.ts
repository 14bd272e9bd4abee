/** A published server that has left the list leaves nothing behind: what it offered was its person's alone. */

import {
  evictDurableObject,
  listDurableObjectIds,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, test, vi } from "vitest";

import { FanOutObject } from "../../../durable-objects/fan-out-object.ts";
import { feedName } from "../../../durable-objects/ports.ts";
import { GATEWAY_CLIENT } from "../../../src/endpoint/client-kind.ts";
import { publishedKey } from "../../../src/upstream/server-key.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";
import { until, within } from "../bounded.ts";
import { modern, send, Session } from "../client.ts";
import { beginWith } from "../configuration.ts";
import { responseIn } from "../event-reader.ts";
import { connectLaptop, type Laptop } from "./laptop.ts";
import { modernServer, text, type Tool } from "./local-servers.ts";

const DAY_MS = 86_400_000;
const SECRET = "reads-my-diary";

beforeAll(async () => {
  await beginWith({ PUBLISHING: "on" });
});
afterEach(() => {
  vi.useRealTimers();
});

const read: Tool = () => text("read");
const connector = () => env.CONNECTORS.getByName("local");

async function publish(name: string): Promise<Laptop> {
  const laptop = await connectLaptop(send);
  await within(laptop.publish(name, modernServer({ tools: { [SECRET]: read } })), "a welcome");
  return laptop;
}

async function list(name: string): Promise<Json | undefined> {
  return (await responseIn(await modern({ mcp: `/mcp/my-${name}` }, "tools/list"))).result;
}

const feedOf = (name: string) => env.FEEDS.getByName(feedName(publishedKey(`my-${name}`, "local")));

/** Waits until so many topics of a server are watched. */
async function watched(name: string, count: number): Promise<void> {
  const isSo = async (): Promise<true | undefined> =>
    (await feedOf(name).health()).watched === count ? true : undefined;
  await until(isSo, `${count} topics to be watched`);
}

function unexpected(promised: unknown): never {
  throw new Error(`Promised: ${JSON.stringify(promised)}`);
}

/** All that the feed of a server has stored, as text. */
function keptOf(name: string): Promise<string> {
  return runInDurableObject(feedOf(name), async (_, { storage }) => {
    const tables = [
      ...storage.sql.exec<{ name: string }>(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'",
      ),
    ];
    const rows = tables.flatMap((table) => [...storage.sql.exec(`SELECT * FROM "${table.name}"`)]);
    const kept = [...rows, ...storage.kv.list(), (await storage.getAlarm()) ?? []].flat();
    return JSON.stringify(kept, (_key, value: unknown) => readable(value));
  });
}

function readable(value: unknown): unknown {
  return value instanceof ArrayBuffer ? new TextDecoder().decode(value) : value;
}

test("after a day without its machine, of which its list is kept", async ({ expect }) => {
  const laptop = await publish("diary");
  expect(await list("diary")).toMatchObject({ tools: [{ name: SECRET }] });
  laptop.break();
  await until(
    async () => ((await list("diary"))?.["_meta"] === undefined ? undefined : true),
    "a mark",
  );
  expect(await keptOf("diary")).toContain(SECRET);

  const now = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now: now + DAY_MS - 60_000 });
  const stale = await list("diary");
  expect(stale).toMatchObject({
    tools: [{ name: SECRET }],
    _meta: { "edgeway/servers": [{ server: "my-diary", state: "offline" }] },
  });

  vi.setSystemTime(now + DAY_MS + 1000);
  await runDurableObjectAlarm(connector());
  await until(async () => ((await keptOf("diary")).includes(SECRET) ? undefined : true), "nothing");
  const { servers } = await connector().list();
  expect(servers).toEqual([]);
  const path = { mcp: "/mcp/my-diary" };
  await until(async () => {
    const response = await modern(path, "tools/list");
    await response.body?.cancel();
    return response.status === 404 ? true : undefined;
  }, "no such path");
});

test("when its person ends it; and one of the name may be published anew", async ({ expect }) => {
  await publish("again");
  expect(await list("again")).toMatchObject({ tools: [{ name: SECRET }] });
  expect(await keptOf("again")).toContain(SECRET);
  await connector().end("again");
  await until(async () => ((await keptOf("again")).includes(SECRET) ? undefined : true), "nothing");
  const laptop = await connectLaptop(send);
  await within(laptop.publish("again", modernServer({ tools: { other: read } })), "a welcome");
  expect(await list("again")).toMatchObject({ tools: [{ name: "other" }] });
});

test("a feed keeps its key for as long as an alarm wakes it, and no longer", async ({ expect }) => {
  await publish("watched");
  const key = publishedKey("my-watched", "local");
  const want = { add: ["tools" as const], remove: [] };
  expect(await feedOf("watched").watch(1, want)).toEqual(["tools"]);
  expect(await keptOf("watched")).toContain(key);
  expect(await runDurableObjectAlarm(feedOf("watched"))).toBe(true);
  expect((await feedOf("watched").health()).watched).toBe(1);
  await connector().end("watched");
  await until(async () => ((await keptOf("watched")) === "[]" ? true : undefined), "nothing");
  // In the same life of the feed, which has to know that its alarm is gone, too.
  await publish("watched");
  await feedOf("watched").watch(1, want);
  expect(await runDurableObjectAlarm(feedOf("watched"))).toBe(true);
});

describe("of one that is paused", () => {
  const CHANGED = "notifications/tools/list_changed";

  test("a session at it alone is told of a change when it is back", async ({ expect }) => {
    await publish("paused");
    const session = await Session.inUse("/mcp/my-paused");
    const heard = (await session.listen()).collect();
    await watched("paused", 3);
    await connector().setPaused("paused", true);
    await until(async () => ((await keptOf("paused")) === "[]" ? true : undefined), "nothing");
    await connector().setPaused("paused", false);
    const before = heard.length;
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 5000 });
    for (const id of await listDurableObjectIds(env.FAN_OUT)) {
      await runDurableObjectAlarm(env.FAN_OUT.get(id));
    }
    await watched("paused", 3);
    const isTold = (): true | undefined =>
      heard.slice(before).some(({ method }) => method === CHANGED) ? true : undefined;
    expect(await until(async () => isTold(), "the client to be told")).toBe(true);
    await connector().end("paused");
  });

  test("nothing is deleted until the branches know", async ({ expect }) => {
    await publish("unknown");
    await feedOf("unknown").watch(1, { add: ["tools"], remove: [] });
    const withdrawn = vi.spyOn(FanOutObject.prototype, "withdrawn");
    withdrawn.mockImplementation(() => {
      throw new Error("It is being restarted");
    });
    await connector().setPaused("unknown", true);
    await until(async () => (withdrawn.mock.calls.length > 0 ? true : undefined), "a branch");
    const again = await Promise.allSettled([feedOf("unknown").publishedEnded()]);
    expect(again).toMatchObject([{ status: "rejected" }]);
    expect(await keptOf("unknown")).toContain("tools");
    withdrawn.mockRestore();
    await runDurableObjectAlarm(connector());
    await until(async () => ((await keptOf("unknown")) === "[]" ? true : undefined), "nothing");
    await connector().end("unknown");
  });
});

/** An isolate, a session or a branch of the fan-out may know of a server for some seconds longer than it is there. */
const LATE: readonly { readonly what: string; readonly ask: (name: string) => Promise<unknown> }[] =
  [
    {
      what: "a question",
      ask: (name) => feedOf(name).catalog({ client: GATEWAY_CLIENT, waitMs: 20_000 }),
    },
    { what: "a report", ask: (name) => feedOf(name).report(undefined) },
    {
      what: "a topic that is given up",
      ask: (name) => feedOf(name).watch(1, { add: [], remove: ["tools"] }),
    },
    {
      what: "a topic that is wanted",
      // A promise is not given any more: the branch asks again.
      ask: async (name) => {
        const watch = feedOf(name).watch(1, { add: ["tools"], remove: [] });
        await watch.then(unexpected, () => undefined);
      },
    },
  ];

describe.for(LATE)("of one that is gone nothing is written again by $what", ({ ask }) => {
  test("in the same life of its feed, and in the next one", async ({ expect }) => {
    const name = `late-${LATE.findIndex((one) => one.ask === ask)}`;
    await publish(name);
    expect(await list(name)).toMatchObject({ tools: [{ name: SECRET }] });
    await connector().end(name);
    await until(async () => ((await keptOf(name)) === "[]" ? true : undefined), "nothing");
    await ask(name);
    await until(async () => ((await keptOf(name)) === "[]" ? true : undefined), "nothing, again");
    await evictDurableObject(feedOf(name));
    await ask(name);
    await until(async () => ((await keptOf(name)) === "[]" ? true : undefined), "nothing, still");
  });
});
