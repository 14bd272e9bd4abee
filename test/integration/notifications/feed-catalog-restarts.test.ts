/** A feed whose object loses its memory: what it knew of an upstream, it knows. */

import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, test } from "vitest";

import { fanOutIn } from "../../../durable-objects/fan-out.ts";
import type { CatalogAnswer } from "../../../src/catalog/catalog.ts";
import { PATIENCE_MS, until } from "../bounded.ts";
import {
  ask,
  feedOf,
  LEGACY,
  MODERN,
  objectOf,
  short,
  storedBy,
  WAYS_TO_LOSE,
} from "../feed-object.ts";
import { setLimits } from "../own-limits.ts";
import { jsonOf, Upstream } from "../upstream.ts";

setLimits({ catalogFreshSeconds: 0, maxMessageBytes: 16 * 1024 * 1024 });

const tool = (name: string, description = "") => ({
  ...{ name, description, inputSchema: { type: "object" } },
});
const ONE = { tools: [tool("one")] };
const DEAD = { status: 503, isLasting: true } as const;

function catalogIn(answer: CatalogAnswer): readonly { name: string; text: string }[] {
  return answer.kind === "catalog" ? answer.catalog.lists.tools : [];
}

describe.for(WAYS_TO_LOSE)("a feed whose object $name", ({ lose }) => {
  test("answers from what it has read before", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern", ...ONE });
    const first = await ask(upstream, { client: MODERN });
    await lose(upstream);
    const again = await ask(upstream, { client: MODERN });
    expect(catalogIn(again)).toEqual(catalogIn(first));
    const known = first.kind === "catalog" ? first.catalog.version : "";
    expect((await ask(upstream, { client: MODERN, known })).kind).toBe("same");
    expect(await upstream.sent("tools/list")).toHaveLength(1);
    expect(await feedOf(upstream).health()).toMatchObject({
      state: "healthy",
      counts: { tools: 1 },
    });
  });

  test("after a failure goes on to leave the server alone", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy", ...ONE });
    await ask(upstream);
    await upstream.script({ server: "legacy", reactions: { initialize: [DEAD] } });
    const before = await ask(upstream);
    // Until the pauses are long enough for what is to be seen.
    await until(async () => {
      await ask(upstream);
      return (await upstream.sent("initialize")).length >= 4 ? true : undefined;
    }, "some attempts");
    const attempts = (await upstream.log()).length;
    await lose(upstream);
    const after = await ask(upstream);
    expect(short(after)).toBe("one (unreachable)");
    expect(after.trouble?.since).toBe(before.trouble?.since);
    expect((await feedOf(upstream).health()).state).toBe("failing");
    expect(await upstream.log()).toHaveLength(attempts);
  });

  test("with a catalog of megabytes has it whole", async ({ expect }) => {
    const many = Array.from({ length: 10_000 }, (_, n) => tool(`tool-${n}`, "x".repeat(400)));
    const upstream = await Upstream.take({ server: "modern", tools: many });
    const first = await ask(upstream, { client: MODERN, waitMs: PATIENCE_MS / 2 });
    const items = catalogIn(first);
    expect(items).toHaveLength(10_000);
    const size = await runInDurableObject(objectOf(upstream), (_instance, { storage: { sql } }) =>
      sql
        .exec<{ total: number; largest: number }>(
          "SELECT sum(length(data)) AS total, max(length(data)) AS largest FROM catalog_rows_1",
        )
        .one(),
    );
    expect(size.total).toBeGreaterThan(4_000_000);
    expect(size.largest).toBeLessThan(600_000);
    await lose(upstream);
    expect(catalogIn(await ask(upstream, { client: MODERN }))).toEqual(items);
    expect(await upstream.sent("tools/list")).toHaveLength(1);
  });
});

// A feed that somebody hears of is kept by its watch: it can be lost, and not be evicted.
describe("a feed whose object is lost", () => {
  test("after a failure finds out without a question that the server is back", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy", reactions: { "tools/list": [DEAD] } });
    const socket = await fanOutIn(env).listen({ [upstream.slug]: ["tools"] });
    expect(short(await ask(upstream))).toBe("none (unreachable)");
    expect((await storedBy(upstream)).alarm).not.toBeNull();
    await upstream.script({ server: "legacy", ...ONE });
    await abortAllDurableObjects();
    await until(
      async () => ((await feedOf(upstream).health()).state === "healthy" ? true : undefined),
      "the feed to look again",
    );
    expect(short(await ask(upstream, { waitMs: 0 }))).toBe("one");
    socket.close();
  });

  test("in the middle of reading reads again", async ({ expect }) => {
    const held = { ...jsonOf({ result: ONE }), heldBy: "list" };
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/list": [held] },
    });
    const asked = feedOf(upstream).catalog({ client: LEGACY, waitMs: 5000 });
    const failed = asked.then(
      () => false,
      () => true,
    );
    await upstream.receives("tools/list");
    await abortAllDurableObjects();
    expect(await failed).toBe(true);
    await upstream.open("list");
    await upstream.script({ server: "legacy", ...ONE });
    expect(short(await ask(upstream))).toBe("one");
    expect(await upstream.sent("tools/list")).toHaveLength(2);
  });

  test("in the middle of reading a change has not forgotten that there is one", async ({
    expect,
  }) => {
    const result = { ttlMs: 600_000, cacheScope: "public", resultType: "complete" };
    const list = (name: string) => jsonOf({ result: { ...result, tools: [tool(name)] } });
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "tools/list": [list("one"), { ...list("two"), heldBy: "list" }, list("three")] },
    });
    expect(short(await ask(upstream, { client: MODERN }))).toBe("one");
    const socket = await fanOutIn(env).listen({ [upstream.slug]: ["tools"] });
    await upstream.send({ method: "notifications/tools/list_changed" });
    await socket.next();
    expect(short(await ask(upstream, { client: MODERN, waitMs: 20 }))).toBe("one");
    await upstream.receives("tools/list", 2);
    socket.close();
    await abortAllDurableObjects();
    expect(short(await ask(upstream, { client: MODERN }))).toBe("three");
  });
});
