/** The catalogs of an upstream, as its feed has them: how often the upstream is asked for them. */

import { env } from "cloudflare:workers";
import { describe, test, vi } from "vitest";

import { until } from "../bounded.ts";
import { fanOutIn } from "../../../durable-objects/fan-out.ts";
import { afterDeploy, ask, feedOf, LEGACY, MODERN, short, storedBy } from "../feed-object.ts";
import { setLimits } from "../own-limits.ts";
import { jsonOf, Upstream } from "../upstream.ts";

// Of a server that says nothing of it, a catalog is never fresh.
setLimits({ catalogFreshSeconds: 0 });

function stopTheClock(): void {
  vi.useFakeTimers({ toFake: ["Date"] });
}

const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
const ONE = { tools: [tool("one")] };
const TWO = { tools: [tool("two")] };
async function everythingIn(storage: DurableObjectStorage): Promise<unknown[]> {
  const tables = storage.sql.exec<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'",
  );
  const alarm = await storage.getAlarm();
  return [...Array.from(tables, ({ name }) => name), ...(alarm === null ? [] : [alarm])];
}

const DEAD = { status: 503, isLasting: true } as const;

describe("the upstream is asked", () => {
  test("once, by all who want to know at the same time", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy", ...ONE });
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(upstream)));
    expect(new Set(answers.map(short))).toEqual(new Set(["one"]));
    expect(await upstream.sent("tools/list")).toHaveLength(1);
    expect(await upstream.sent("initialize")).toHaveLength(1);
  });

  test("again when what it said is no longer good", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy", ...ONE });
    await ask(upstream);
    await upstream.script({ server: "legacy", ...TWO });
    expect(short(await ask(upstream))).toBe("two");
    expect(await upstream.sent("tools/list")).toHaveLength(2);
  });

  test("not while it is, by its own word", async ({ expect }) => {
    stopTheClock();
    const upstream = await Upstream.take({ server: "modern", ...ONE });
    const answer = await ask(upstream, { client: MODERN });
    expect(short(answer)).toBe("one");
    expect(answer).toMatchObject({ freshMs: 60_000 });
    await ask(upstream, { client: MODERN });
    expect(await upstream.sent("tools/list")).toHaveLength(1);
    const known = answer.kind === "catalog" ? answer.catalog.version : "";
    expect((await ask(upstream, { client: MODERN, known })).kind).toBe("same");
  });

  test("for each kind of client, in its era", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "dual", ...ONE });
    await Promise.all([ask(upstream, { client: MODERN }), ask(upstream, { client: LEGACY })]);
    const lists = await upstream.sent("tools/list");
    const revisions = lists.map(({ headers }) => headers["mcp-protocol-version"] ?? "");
    expect(revisions.toSorted()).toEqual(["2025-06-18", "2026-07-28"]);
    expect((await storedBy(upstream)).rows["catalogs_1"]).toBe(2);
  });

  test("by a question about its health", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy", ...ONE });
    const feed = feedOf(upstream);
    const unseen = { slug: upstream.slug, state: "unknown", watched: 0, isWatching: false };
    expect(await feed.health()).toMatchObject(unseen);
    expect(await upstream.log()).toEqual([]);
    await ask(upstream);
    expect(await feed.health()).toMatchObject({ state: "healthy", counts: { tools: 1 } });
    // Nobody waits for news, so nothing is to be done later.
    expect((await storedBy(upstream)).alarm).toBeNull();
  });
});

describe("a change", () => {
  test("that the server announces is read before it is announced", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy", ...ONE });
    const socket = await fanOutIn(env).listen({ [upstream.slug]: ["tools"] });
    expect(socket.honoured).toEqual({ [upstream.slug]: ["tools"] });
    expect(short(await ask(upstream))).toBe("one");
    const lists = (await upstream.sent("tools/list")).length;
    // It tells of tools alone, and has prompts and resources too.
    await upstream.script({ server: "legacy", ...TWO });
    await upstream.send({ method: "notifications/tools/list_changed" });
    expect(await socket.next()).toMatchObject({ slug: upstream.slug, topics: ["tools"] });
    expect(short(await ask(upstream))).toBe("two");
    expect(await upstream.sent("tools/list")).toHaveLength(lists + 1);
    socket.close();
  });

  test("is not looked for while the server would announce it", async ({ expect }) => {
    const capabilities = { tools: { listChanged: true } };
    const upstream = await Upstream.take({ server: "legacy", capabilities, ...ONE });
    const socket = await fanOutIn(env).listen({ [upstream.slug]: ["tools"] });
    await upstream.receives("GET");
    await until(async () => {
      const before = (await upstream.sent("tools/list")).length;
      for (let n = 0; n < 3; n++) await ask(upstream);
      return (await upstream.sent("tools/list")).length === before ? true : undefined;
    }, "the watch to be believed");
    await upstream.script({ server: "legacy", capabilities, ...TWO });
    await upstream.send({ method: "notifications/tools/list_changed" });
    await socket.next();
    expect(short(await ask(upstream))).toBe("two");
    expect((await storedBy(upstream)).alarm).not.toBeNull();
    socket.close();
  });

  test("that is found is announced to its subscribers", async ({ expect }) => {
    // One that does not tell of all its lists is asked again.
    const capabilities = { tools: { listChanged: true }, prompts: {} };
    const upstream = await Upstream.take({ server: "legacy", capabilities, ...ONE });
    const socket = await fanOutIn(env).listen({ [upstream.slug]: ["tools"] });
    expect(short(await ask(upstream))).toBe("one");
    await upstream.script({ server: "legacy", capabilities, ...TWO });
    expect(short(await ask(upstream))).toBe("two");
    expect(await socket.next()).toMatchObject({ topics: ["tools"] });
    socket.close();
  });
});

describe("a server that fails", () => {
  test("is served from what it last listed, and left alone", async ({ expect }) => {
    stopTheClock(); // or it would be tried again
    const upstream = await Upstream.take({ server: "legacy", ...ONE });
    await ask(upstream);
    await upstream.script({ server: "legacy", reactions: { initialize: [DEAD] } });
    const answer = await ask(upstream);
    expect(short(answer)).toBe("one (unreachable)");
    expect(answer.trouble?.message).toContain(`"${upstream.slug}"`);
    const before = (await upstream.log()).length;
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(upstream)));
    expect(new Set(answers.map(short))).toEqual(new Set(["one (unreachable)"]));
    expect(await upstream.log()).toHaveLength(before);
    expect(await feedOf(upstream).health()).toMatchObject({
      ...{ state: "failing", trouble: { reason: "unreachable" }, counts: { tools: 1 } },
    });
    // Nobody waits for its return.
    expect((await storedBy(upstream)).alarm).toBeNull();
  });

  test("that never listed anything is down, and says so at once", async ({ expect }) => {
    stopTheClock();
    const upstream = await Upstream.take({ server: "legacy", reactions: { initialize: [DEAD] } });
    expect(short(await ask(upstream))).toBe("none (unreachable)");
    const before = (await upstream.log()).length;
    expect(short(await ask(upstream))).toBe("none (unreachable)");
    expect(await upstream.log()).toHaveLength(before);
    expect((await feedOf(upstream).health()).state).toBe("down");
  });

  test("and is slow about it is left to itself", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "tools/list": [{ ...jsonOf({ result: ONE }), heldBy: "list", isLasting: true }],
      },
    });
    expect(short(await ask(upstream, { waitMs: 20 }))).toBe("none (slow)");
    await upstream.open("list");
    expect(short(await ask(upstream))).toBe("one");
  });

  test("and is back: its subscribers are notified without a question", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy", ...ONE });
    await ask(upstream);
    const socket = await fanOutIn(env).listen({ [upstream.slug]: ["tools"] });
    await upstream.script({ server: "legacy", reactions: { "tools/list": [DEAD] } });
    await upstream.send({ method: "notifications/tools/list_changed" });
    expect((await socket.next())?.topics).toEqual(["tools"]);
    expect(short(await ask(upstream))).toBe("one (unreachable)");
    await upstream.script({ server: "legacy", ...ONE });
    const isWell = async (): Promise<true | undefined> =>
      (await feedOf(upstream).health()).state === "healthy" ? true : undefined;
    await until(isWell, "the feed to look again");
    expect((await socket.next())?.topics).toEqual(["tools"]);
    expect(short(await ask(upstream, { waitMs: 0 }))).toBe("one");
    socket.close();
  });

  test("by a caller's word is looked at before it is believed for long", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy", ...ONE });
    await ask(upstream);
    const message = `Upstream "${upstream.slug}" cannot be reached`;
    await feedOf(upstream).report({ reason: "unreachable", message, since: Date.now() });
    expect(short(await ask(upstream))).toBe("one (unreachable)");
    const lists = (await upstream.sent("tools/list")).length;
    await until(
      async () => (short(await ask(upstream)) === "one" ? true : undefined),
      "the feed to look",
    );
    expect((await upstream.sent("tools/list")).length).toBe(lists + 1);
  });
});

describe("of a server that announces nothing", () => {
  const silent = { server: "legacy", capabilities: { tools: {} } } as const;

  test("changes and recovery are announced as soon as they are found", async ({ expect }) => {
    const upstream = await Upstream.take({ ...silent, ...ONE });
    const socket = await fanOutIn(env).listen({ [upstream.slug]: ["tools"] });
    // Nobody is promised what the gateway may be late to find.
    expect(socket.honoured).toEqual({});
    expect(short(await ask(upstream))).toBe("one");
    await upstream.script({ ...silent, ...TWO });
    expect(short(await ask(upstream))).toBe("two");
    expect((await socket.next())?.topics).toEqual(["tools"]);

    await upstream.script({ ...silent, reactions: { "tools/list": [DEAD] } });
    expect(short(await ask(upstream))).toBe("two (unreachable)");
    await upstream.script({ ...silent, ...TWO });
    expect((await socket.next())?.topics).toEqual(["tools"]);
    expect(short(await ask(upstream, { waitMs: 0 }))).toBe("two");
    socket.close();
  });
});

describe("after a deploy", () => {
  test("what was read elsewhere is not shown", async ({ expect }) => {
    const [upstream, other] = [
      await Upstream.take({ server: "legacy", ...ONE }),
      await Upstream.take({ server: "legacy", ...TWO }),
    ];
    await ask(upstream);
    const servers = JSON.parse(String(env["MCP_SERVERS"])) as Record<string, object>;
    const moved = { [upstream.slug]: servers[other.slug] ?? {} };
    await afterDeploy(upstream, moved, async (next) => {
      expect((await next.health()).state).toBe("unknown");
      const question = { client: LEGACY, waitMs: 5000 };
      expect(short(await next.catalog(question))).toBe("two");
    });
  });

  test("a server that is not there any more leaves nothing", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy", ...ONE });
    await ask(upstream);
    const { slug } = upstream;
    const other = { other: { url: "https://other.example/mcp" } };
    await afterDeploy(upstream, other, async (next, { storage }) => {
      const question = { client: LEGACY, waitMs: 5000 };
      const answer = await next.catalog(question);
      expect(short(answer)).toBe("none (unconfigured)");
      expect(answer.trouble?.message).toContain(slug);
      await expect(next.watch(0, { add: ["tools"], remove: [] })).rejects.toThrow("no upstream");
      expect(await next.watch(0, { add: [], remove: ["tools"] })).toEqual([]);
      await next.report(undefined);
      expect(await next.health()).toMatchObject({ slug, state: "unknown" });
      const left = (): Promise<unknown[]> => everythingIn(storage);
      expect(await left()).toEqual([]);
      await storage.setAlarm(Date.now() + 60_000);
      await next.alarm();
      expect(await left()).toEqual([]);
    });
  });

  test.for([
    ["a mistake in its entry", { url: "not a url" }],
    ["its switch", { url: "https://docs.example/mcp", disabled: true }],
  ] as const)("%s takes nothing away from a server", async ([, entry], { expect }) => {
    const upstream = await Upstream.take({ server: "legacy", ...ONE });
    await ask(upstream);
    await afterDeploy(upstream, { [upstream.slug]: entry }, async (next, { storage }) => {
      const question = { client: LEGACY, waitMs: 5000 };
      expect(short(await next.catalog(question))).toBe("none (unconfigured)");
      // Whoever wants to hear of it is not forgotten.
      await next.alarm();
      expect(await storage.getAlarm()).not.toBeNull();
    });
    expect((await storedBy(upstream)).rows["catalogs_1"]).toBe(1);
  });
});
