/** The watch of a real feed runs again by itself after the object's memory was lost. */

import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, test } from "vitest";

import { feedName } from "../../../durable-objects/ports.ts";
import type { FeedObject } from "../../../durable-objects/feed-object.ts";
import { PATIENCE_MS } from "../bounded.ts";
import { Upstream } from "../upstream.ts";

const NOTHING = { add: [], remove: [] } as const;
const TOPICS = ["tools", "uri:file:///a"] as const;
const KINDS = [
  { server: "modern", stream: "subscriptions/listen" },
  { server: "legacy", stream: "GET" },
] as const;

/** A stub for each use: one whose object was lost stays broken. */
function feedOf({ slug }: Upstream): DurableObjectStub<FeedObject> {
  return env.FEEDS.get(env.FEEDS.idFromName(feedName(slug)));
}

async function alarmOf(upstream: Upstream): Promise<number | null> {
  return runInDurableObject(feedOf(upstream), (_instance, { storage }) => storage.getAlarm());
}

describe.for(KINDS)("the feed of a $server server", ({ server, stream }) => {
  test("watches again when its alarm fires, and has no alarm without subscribers", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server });
    expect(await feedOf(upstream).watch(3, { ...NOTHING, add: TOPICS })).toEqual(TOPICS);
    expect(await feedOf(upstream).health()).toMatchObject({ watched: 2, isWatching: true });
    await abortAllDurableObjects();
    expect(await runDurableObjectAlarm(feedOf(upstream))).toBe(true);
    await upstream.receives(stream, 2);
    await expect
      .poll(() => feedOf(upstream).health(), { timeout: PATIENCE_MS })
      .toMatchObject({ watched: 2, isWatching: true });
    expect(await alarmOf(upstream)).not.toBe(null);
    await feedOf(upstream).watch(3, { ...NOTHING, remove: TOPICS });
    expect(await feedOf(upstream).health()).toMatchObject({ watched: 0, isWatching: false });
    // The last ring finds nothing to do.
    await runDurableObjectAlarm(feedOf(upstream));
    expect(await alarmOf(upstream)).toBe(null);
    expect(await upstream.sent(stream)).toHaveLength(2);
  });
});
