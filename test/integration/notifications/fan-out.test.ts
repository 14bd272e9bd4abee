/** One update on its way to very many: to each exactly once, whatever some of them do. */

// Has an isolate of its own: it has a thousand sessions at once.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { branchFor } from "../../../durable-objects/ports.ts";
import { BRANCHES } from "../../../src/notifications/fan-out/branch.ts";
import { Deadlines } from "../../../src/lib/deadlines.ts";
import type { News } from "../../../src/catalog/feeds.ts";
import { readCosts } from "../../../src/observability/costs.ts";
import { until as untilIn } from "../../support/until.ts";
import { until } from "../bounded.ts";
import {
  allNotified,
  atRest,
  conduct,
  Gate,
  Listener,
  neighbours,
  publish,
  rowsOf,
  standIn,
  type StandIns,
  subscribeSessions,
  delivered,
  truly,
} from "./fan-out-subscribers.ts";
import { Upstream } from "../upstream.ts";

const MANY = 1000;
/** A thousand objects come to life, on a machine that may be busy. */
const LONG_MS = 60_000;

let standIns: StandIns;

beforeEach(() => {
  standIns = standIn();
});
afterEach(() => {
  vi.restoreAllMocks();
});

let seq = 0;

async function takeSlug(): Promise<string> {
  return (await Upstream.take({ server: "legacy" })).slug;
}

function newsOf(slug: string, ...topics: News["topics"]): News {
  return { slug, seq: (seq += 1), topics: topics.length === 0 ? ["tools"] : topics };
}

describe("one update", () => {
  test(
    "reaches 1,000 sessions and 1,000 listeners, each exactly once",
    async ({ expect }) => {
      // A thousand objects that come to life at once may be late, which is tested elsewhere.
      vi.spyOn(Deadlines.prototype, "within").mockImplementation((promise) => promise);
      const slug = await takeSlug();
      const sessions = await subscribeSessions(MANY, { [slug]: ["tools"] });
      const listeners = await Listener.many(MANY, { [slug]: ["tools"] });
      const others = await subscribeSessions(5, { [slug]: ["prompts"] });
      for (let round = 0; round < 2; round += 1) {
        delivered.clear();
        const news = newsOf(slug);
        const before = readCosts();
        await publish(news);
        await untilIn(
          () => allNotified(sessions) === true,
          "every session to be notified",
          LONG_MS,
        );
        const isReceived = (): boolean =>
          listeners.every(({ received }) => received.length > round);
        await untilIn(isReceived, "every listener to be notified", LONG_MS);
        await atRest(slug);
        const after = readCosts();
        for (const id of sessions) expect(delivered.get(id)).toEqual([news]);
        for (const { received } of listeners) expect(received.slice(round)).toEqual([news]);
        for (const id of others) expect(delivered.has(id)).toBe(false);
        // One for each object, and one for each session; a listener costs none.
        expect(after.objectRequests - before.objectRequests).toBe(BRANCHES + MANY);
        expect(after.webSocketMessagesOut - before.webSocketMessagesOut).toBe(MANY);
        // In each branch: the highest number of news, the topic, and the end of it.
        expect(after.rowsWritten - before.rowsWritten).toBe(BRANCHES * 3);
      }
      for (const { socket } of listeners) socket.close();
    },
    3 * LONG_MS,
  );
});

describe("sessions that misbehave", () => {
  test("delay no other session: one throws, one hangs, one is gone", async ({ expect }) => {
    const { slug, ids, object } = await neighbours(await takeSlug(), 20);
    const [throwing = "", hanging = "", gone = "", ...others] = ids;
    const gate = new Gate();
    let failures = 0;
    conduct.set(throwing, () => {
      failures += 1;
      return failures > 2 ? "taken" : Promise.reject(new Error("It fails"));
    });
    conduct.set(hanging, gate.pass);
    conduct.set(gone, () => "gone");
    const [first, second] = [newsOf(slug), newsOf(slug)];
    await object().publish(first);
    await until(async () => allNotified(ids), "all to be called");
    await object().publish(second);
    await until(async () => allNotified(others, 2), "the others to be notified of the next update");
    for (const id of others) expect(delivered.get(id)).toEqual([first, second]);
    // It gets one call at a time.
    expect(delivered.get(hanging)).toEqual([first]);
    expect(delivered.get(gone)).toEqual([first]);
    expect(await rowsOf(slug, "wants_1")).toBe(19);
    gate.isOpen = true;
    await atRest(slug);
    expect(delivered.get(hanging)).toEqual([first, second]);
    // News that it missed is delivered once, in its latest state.
    expect(delivered.get(throwing)).toHaveLength(3);
    expect(delivered.get(throwing)?.at(-1)).toEqual(second);
    expect(delivered.get(gone)).toEqual([first]);
  });

  test("are forgotten when there is no such session", async ({ expect }) => {
    standIns.deliver.mockRestore();
    const { slug, object } = await neighbours(await takeSlug(), 3);
    expect(await rowsOf(slug, "wants_1")).toBe(3);
    await object().publish(newsOf(slug));
    await until(async () => truly((await rowsOf(slug, "wants_1")) === 0), "them to be forgotten");
    await atRest(slug);
  });
});

describe("a subscriber", () => {
  test("that unsubscribes is notified of nothing more", async ({ expect }) => {
    const { slug, ids, object } = await neighbours(await takeSlug(), 2);
    const [one = "", other = ""] = ids;
    for (const id of ids) await branchFor(env, id).subscribe(id, { [slug]: ["uri:x"] });
    await branchFor(env, one).unsubscribe(one, { [slug]: ["tools"] });
    await object().publish(newsOf(slug, "tools", "uri:x"));
    await until(async () => allNotified(ids), "both to be notified");
    expect(delivered.get(one)?.map(({ topics }) => topics)).toEqual([["uri:x"]]);
    await branchFor(env, one).unsubscribe(one);
    await object().publish(newsOf(slug, "tools", "uri:x"));
    await until(async () => allNotified([other], 2), "the other to be notified");
    await atRest(slug);
    expect(delivered.get(one)).toHaveLength(1);
    expect(await rowsOf(slug, "wants_1")).toBe(2);
  });

  test("that listens may want very much", async ({ expect }) => {
    const slug = await takeSlug();
    const uris = Array.from({ length: 1000 }, (_, n) => `uri:${n}/${"x".repeat(1000)}` as const);
    const listener = await Listener.open({ [slug]: ["tools", ...uris] });
    expect(listener.socket.honoured[slug]).toHaveLength(1001);
    // What it has taken makes room for what is next.
    for (let count = 1; count <= 3; count += 1) {
      const news = newsOf(slug, "tools", ...uris);
      await publish(news);
      await until(async () => truly(listener.received.length === count), "it to be notified");
      expect(listener.received.at(-1)?.topics.toSorted()).toEqual(news.topics.toSorted());
    }
    listener.socket.close();
  });
});
