/** Servers that an operator adds while the gateway runs: served, changed, paused and removed without a deploy. */

import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, onTestFinished, test, vi } from "vitest";

import { FanOutObject } from "../../../durable-objects/fan-out-object.ts";
import type { FeedObject } from "../../../durable-objects/feed-object.ts";
import { serverStoreIn } from "../../../durable-objects/live-config.ts";
import { feedName } from "../../../durable-objects/ports.ts";
import { RegistryObject } from "../../../durable-objects/registry-object.ts";
import { SessionObject } from "../../../durable-objects/session-object.ts";
import type { TopicChange } from "../../../src/catalog/feeds.ts";
import { branchName } from "../../../src/notifications/fan-out/branch.ts";
import type { AddedServer } from "../../../src/observability/added-servers.ts";
import { NO_COSTS } from "../../../src/observability/costs.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";
import {
  addedEntry,
  configureOnly,
  remove,
  revisionOf,
  startAnewUnasked,
} from "../added-server.ts";
import { until } from "../bounded.ts";
import { modern, modernCall, send, Session } from "../client.ts";
import { costsOf } from "../costs-of.ts";
import { responseIn } from "../event-reader.ts";
import { Upstream } from "../upstream.ts";

const tools: readonly Json[] = [
  { name: "work", inputSchema: { type: "object" } },
  { name: "rest", inputSchema: { type: "object" } },
];
const HOUR_MS = 3_600_000;
const MERGED = { mcp: "/mcp" };
const store = serverStoreIn(env);

let only: Upstream;

beforeAll(async () => {
  only = await Upstream.take({ server: "modern", capabilities: { tools: {} }, tools });
  configureOnly(only);
});

afterEach(() => void vi.restoreAllMocks());

/** A server that is not in `MCP_SERVERS`. */
async function another(): Promise<{ readonly upstream: Upstream; readonly server: AddedServer }> {
  const upstream = await Upstream.take({ server: "modern", capabilities: { tools: {} }, tools });
  const server = addedEntry(upstream);
  return { upstream, server };
}

async function namesAt(mcp: string): Promise<readonly unknown[]> {
  const { result } = await responseIn(await modern({ mcp }, "tools/list"));
  const listed = (result?.["tools"] ?? []) as readonly Json[];
  return listed.map(({ name }) => name);
}

describe("a server that is added", () => {
  test("is served beside the only one of MCP_SERVERS, whose names stay", async ({ expect }) => {
    const { upstream, server } = await another();
    expect(await namesAt("/mcp")).toEqual(["work", "rest"]);
    expect(await store.putServer(server, 0)).toMatchObject({ kind: "changed" });
    const own = ["work", "rest"].map((name) => `${upstream.slug}__${name}`);
    expect(await namesAt("/mcp")).toEqual(["work", "rest", ...own]);
    expect(await namesAt(upstream.mcp)).toEqual(["work", "rest"]);
    expect(await store.removeServer(upstream.slug, await revisionOf(upstream))).toMatchObject({
      kind: "changed",
    });
    expect(await namesAt("/mcp")).toEqual(["work", "rest"]);
    expect((await send(upstream.mcp, { method: "POST" })).status).toBe(404);
  });

  test("is refused like one that is switched off while it is paused", async ({ expect }) => {
    const { upstream, server } = await another();
    await store.putServer(server, 0);
    await store.putServer({ ...server, state: "paused" }, await revisionOf(upstream));
    const refused = await send(upstream.mcp, { method: "POST" });
    expect(refused.status).toBe(503);
    expect(await refused.text()).toContain("is switched off");
    await store.putServer(server, await revisionOf(upstream));
    expect(await namesAt(upstream.mcp)).toEqual(["work", "rest"]);
    await store.removeServer(upstream.slug, await revisionOf(upstream));
  });

  test("is named alike to clients and on the pages, whichever are asked first", async ({
    expect,
  }) => {
    const { upstream, server } = await another();
    await store.putServer(server, 0);
    const page = await send(`/catalog/${upstream.slug}/work`, {});
    const shown = await page.text();
    const listed = await namesAt("/mcp");
    expect(listed).toEqual(["work", "rest", `${upstream.slug}__work`, `${upstream.slug}__rest`]);
    expect(shown).toContain(`${upstream.slug}__work`);
    await store.removeServer(upstream.slug, await revisionOf(upstream));
  });

  test("costs a modern call no call of an object", async ({ expect }) => {
    const { upstream, server } = await another();
    await store.putServer(server, 0);
    await (await modernCall(upstream)).text();
    const costs = await costsOf(async () => (await modernCall(upstream)).text());
    expect(costs).toEqual({ ...NO_COSTS, outgoingRequests: 1 });
    await store.removeServer(upstream.slug, await revisionOf(upstream));
  });

  test("is told to a session that listens, once", async ({ expect }) => {
    const session = await Session.inUse(MERGED.mcp);
    const stream = await session.listen();
    const { upstream, server } = await another();
    await store.putServer(server, 0);
    expect(await stream.message()).toMatchObject({ method: "notifications/tools/list_changed" });
    const { result } = await responseIn(await session.request("tools/list"));
    expect(JSON.stringify(result)).toContain(`${upstream.slug}__work`);
    await stream.cancel();
    await store.removeServer(upstream.slug, await revisionOf(upstream));
  });

  test("is told again to a session that could not learn of it when it was told", async ({
    expect,
  }) => {
    const session = await Session.inUse(MERGED.mcp);
    const stream = await session.listen();
    const { upstream, server } = await another();
    const read = vi.spyOn(RegistryObject.prototype, "addedServers");
    read.mockImplementation(() => {
      throw new Error("It is being restarted");
    });
    const deliver = vi.spyOn(SessionObject.prototype, "deliver");
    // As another isolate would add it.
    await env.REGISTRY.getByName("registry").putServer(JSON.stringify(server), 0);
    await until(async () => (deliver.mock.settledResults.length > 0 ? true : undefined), "news");
    read.mockRestore();
    expect(await stream.message()).toMatchObject({ method: "notifications/tools/list_changed" });
    const { result } = await responseIn(await session.request("tools/list"));
    expect(JSON.stringify(result)).toContain(`${upstream.slug}__work`);
    await stream.cancel();
    await session.delete();
    await store.removeServer(upstream.slug, await revisionOf(upstream));
  });

  test("is there for an isolate that knew nothing of it after ten seconds, and after the objects were lost", async ({
    expect,
  }) => {
    const { upstream, server } = await another();
    expect(await namesAt("/mcp")).toEqual(["work", "rest"]);
    // As another isolate would add it.
    await env.REGISTRY.getByName("registry").putServer(JSON.stringify(server), 0);
    await abortAllDurableObjects();
    vi.setSystemTime(Date.now() + 10_000);
    expect(await namesAt(upstream.mcp)).toEqual(["work", "rest"]);
    vi.useRealTimers();
    await store.removeServer(upstream.slug, await revisionOf(upstream));
  });

  test("gets no call while nobody can be asked for it, and no other server gets that", async ({
    expect,
  }) => {
    const { upstream, server } = await another();
    await store.putServer(server, 0);
    onTestFinished(() => remove(upstream));
    const { asked } = await startAnewUnasked();
    const name = `${upstream.slug}__work`;
    const before = await only.sent("tools/call");
    const refused = await responseIn(await modern(MERGED, "tools/call", { name, arguments: {} }));
    expect(refused.error).toMatchObject({
      code: -32603,
      message: expect.stringContaining("which servers were added"),
    });
    const own = await responseIn(await modernCall(MERGED));
    expect(own).toHaveProperty("result");
    expect(await only.sent("tools/call")).toHaveLength(before.length + 1);
    asked();
    const { result } = await responseIn(
      await modern(MERGED, "tools/call", { name, arguments: {} }),
    );
    expect(result).toBeDefined();
  });

  test("of a slug of MCP_SERVERS is not served: that one wins", async ({ expect }) => {
    const { server } = await another();
    await store.putServer({ ...server, slug: only.slug }, 0);
    expect(await namesAt(only.mcp)).toEqual(["work", "rest"]);
    const { result } = await responseIn(await modern(MERGED, "tools/list"));
    expect(JSON.stringify(result)).toContain("the entry of MCP_SERVERS wins");
    await store.removeServer(only.slug, await revisionOf(only));
  });
});

/** The topics that the feed of a server promises to a branch. */
function watch(
  { slug }: Upstream,
  more: Pick<TopicChange, "isLate"> = {},
): Promise<readonly string[] | "no answer"> {
  const change = { add: ["tools"], remove: [], ...more } as const;
  const promised = env.FEEDS.getByName(feedName(slug)).watch(1, change);
  return promised.then(
    (topics) => topics,
    () => "no answer" as const,
  );
}

/** The feed has deleted the interests of all branches. */
async function forgotten(feed: DurableObjectStub<FeedObject>): Promise<void> {
  const isForgotten = (): Promise<true | undefined> =>
    runInDurableObject(feed, (_instance, { storage: { sql } }) => {
      const [wanted] = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'wanted_1'");
      return wanted === undefined || undefined;
    });
  await until(isForgotten, "the feed to delete what it has stored");
}

describe("the feed of a server that is added", () => {
  test("watches it where this isolate does not know of it yet", async ({ expect }) => {
    const { upstream, server } = await another();
    expect(await watch(upstream)).toBe("no answer");
    // As another isolate would add it.
    await env.REGISTRY.getByName("registry").putServer(JSON.stringify(server), 0);
    expect(await watch(upstream)).toEqual(["tools"]);
    await store.removeServer(upstream.slug, await revisionOf(upstream));
  });

  test("says nothing while there is none, or it cannot know that, or while that is off", async ({
    expect,
  }) => {
    const { upstream, server } = await another();
    const read = vi.spyOn(RegistryObject.prototype, "addedServers");
    read.mockImplementation(() => {
      throw new Error("It is being restarted");
    });
    expect(await watch(upstream)).toBe("no answer");
    read.mockRestore();
    await store.putServer({ ...server, state: "paused" }, 0);
    expect(await watch(upstream)).toBe("no answer");
    await store.removeServer(upstream.slug, await revisionOf(upstream));
    expect(await watch(upstream)).toBe("no answer");
  });

  test("watches it for a branch that has asked while it was removed", async ({ expect }) => {
    const { upstream, server } = await another();
    const { slug } = upstream;
    const feed = env.FEEDS.getByName(feedName(slug));
    const branch = env.FAN_OUT.getByName(branchName(0));
    await store.putServer(server, 0);
    expect(await branch.subscribe("early", { [slug]: ["tools"] })).toEqual({ [slug]: ["tools"] });
    await remove(upstream);
    await forgotten(feed);
    // The branch believes that there is the server, as its session does.
    await branch.subscribe("late", { [slug]: ["tools"] });
    await store.putServer(server, 0);
    expect(await branch.replace("late", { [slug]: ["tools"] })).toEqual({ [slug]: ["tools"] });
    expect((await feed.health()).watched).toBeGreaterThan(0);
    await remove(upstream);
  });

  // A branch ignores news whose number is not above that of the last.
  test("numbers its news on when it is removed and back, and the clock was set back", async ({
    expect,
  }) => {
    const { upstream, server } = await another();
    const feed = env.FEEDS.getByName(feedName(upstream.slug));
    const publish = vi.spyOn(FanOutObject.prototype, "publish").mockReturnValue();
    const nextNumber = async (): Promise<number> => {
      publish.mockClear();
      await store.putServer(server, 0);
      expect(await watch(upstream, { isLate: true })).toEqual(["tools"]);
      return until(async () => {
        const news = publish.mock.calls.map(([each]) => each);
        return news.find(({ slug }) => slug === upstream.slug)?.seq;
      }, "what may have been missed to be announced");
    };
    const before = await nextNumber();
    await remove(upstream);
    await forgotten(feed);
    vi.setSystemTime(Date.now() - HOUR_MS);
    expect(await nextNumber()).toBeGreaterThan(before);
    await remove(upstream);
  });
});

describe("a switch", () => {
  test("narrows a server of MCP_SERVERS, and opens it again", async ({ expect }) => {
    await store.putSwitch(only.slug, { deniedTools: ["rest"] }, 0);
    expect(await namesAt(only.mcp)).toEqual(["work"]);
    const { revision } = (await store.addedServers()).switches[only.slug] ?? { revision: 0 };
    await store.putSwitch(only.slug, {}, revision);
    expect(await namesAt(only.mcp)).toEqual(["work", "rest"]);
  });
});

test("who changes what somebody else has changed since is told so, and changes nothing", async ({
  expect,
}) => {
  const { upstream, server } = await another();
  await store.putServer(server, 0);
  const seen = await revisionOf(upstream);
  await store.putServer({ ...server, label: "The first one's" }, seen);
  expect(await store.putServer({ ...server, label: "The second one's" }, seen)).toEqual({
    kind: "clash",
  });
  expect(await store.removeServer(upstream.slug, seen)).toEqual({ kind: "clash" });
  expect((await store.addedServers()).servers).toMatchObject([{ label: "The first one's" }]);
  await store.removeServer(upstream.slug, await revisionOf(upstream));
});
