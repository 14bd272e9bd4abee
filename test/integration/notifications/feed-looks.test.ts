/** What a feed remembers of looks at its server, when its object has lost its memory or was made by an earlier version. */

import { runInDurableObject } from "cloudflare:test";
import { describe, test } from "vitest";

import { feedOf, objectOf, WAYS_TO_LOSE } from "../feed-object.ts";
import { Upstream } from "../upstream.ts";

const tool = { name: "one", inputSchema: { type: "object" } };
const DEAD = { status: 503, isLasting: true } as const;

describe.for(WAYS_TO_LOSE)("after its object $name, a feed", ({ lose }) => {
  test("has the looks, the troubles and how the server is spoken to", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy", tools: [tool] });
    await feedOf(upstream).look("button");
    const reactions = { "server/discover": [DEAD], initialize: [DEAD], GET: [DEAD] };
    await upstream.script({ server: "legacy", reactions });
    await feedOf(upstream).report({ reason: "unreachable", message: "is gone", since: Date.now() });
    const health = await feedOf(upstream).look("button");
    expect(health).toMatchObject({ state: "failing", counts: { tools: 1 } });
    const before = await feedOf(upstream).describe();
    expect(before).toMatchObject({
      found: { era: "legacy", revision: "2025-11-25", transport: "streamable-http" },
      info: { name: "scripted" },
      looks: [{ failure: "unreachable" }, {}],
      troubles: [{ reason: "unreachable" }],
    });
    await lose(upstream);
    expect(await feedOf(upstream).describe()).toEqual(before);
  });
});

test("rows of an earlier version, which say neither when nor how, are read", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "modern", tools: [tool] });
  await feedOf(upstream).look("button");
  await runInDurableObject(objectOf(upstream), (_instance, { storage: { sql, kv } }) => {
    sql.exec("UPDATE catalogs_1 SET facts = json_remove(facts, '$.changedAt', '$.found')");
    kv.delete("history_1");
  });
  await WAYS_TO_LOSE[0]?.lose(upstream);
  const report = await feedOf(upstream).describe();
  expect(report).toMatchObject({ health: { state: "healthy", counts: { tools: 1 } }, looks: [] });
  expect([report.found, report.health.changedAt]).toEqual([undefined, undefined]);
});
