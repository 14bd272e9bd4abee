/** A session that nobody comes back to is not watched for, and is again when somebody does. */

import { runDurableObjectAlarm } from "cloudflare:test";
import { beforeAll, describe, test, vi } from "vitest";

import { defaultLimits } from "../../../src/policy/limits.ts";
import { Session } from "../client.ts";
import { changed, MERGED, promised, takeTwo } from "../merged-session.ts";
import { until } from "../bounded.ts";
import { wantedAfterAll } from "../news.ts";
import { evict, objectOf } from "../session-object.ts";
import type { Upstream } from "../upstream.ts";

let first: Upstream;

beforeAll(async () => {
  [first] = await takeTwo();
});

function later(minutes: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + minutes * 60_000 });
}

describe.each([
  ["lives on", false],
  ["dies twice", true],
])("its holder %s", (_how, dies) => {
  test("when its last reader has been gone for long", async ({ expect }) => {
    const { retentionMinutes } = defaultLimits();
    const session = await Session.open(MERGED.mcp);
    const stream = await session.listen();
    await promised(session, first);
    await stream.cancel();
    const object = await objectOf(session);
    const isWatched = async () =>
      (await object.deliver({ slug: first.slug, seq: 0, topics: ["prompts"] })) === "taken";
    if (dies) await evict(session);
    const alarm = async (minutes: number): Promise<void> => {
      later(minutes);
      // The first of all tells the next life since when nobody is there.
      await runDurableObjectAlarm(await objectOf(session));
      if (dies) await evict(session);
    };
    await until(async () => (await isWatched()) || undefined, "the session");
    await alarm(1);
    expect(await isWatched()).toBe(true);
    await alarm(retentionMinutes + 1);
    expect(await isWatched()).toBe(false);
    await wantedAfterAll(first, 0);
    vi.useRealTimers();
    const again = await session.listen();
    expect(await again.message()).toMatchObject(changed("tools"));
    await again.cancel();
    await (await session.delete()).text();
  });
});
