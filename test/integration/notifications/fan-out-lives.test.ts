/** A branch of the fan-out is evicted or lost at the worst moment: news that it accepted is delivered. */

import {
  abortAllDurableObjects,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { branchFor } from "../../../durable-objects/ports.ts";
import { BRANCHES, branchName, branchOf } from "../../../src/notifications/fan-out/branch.ts";
import { until, within } from "../bounded.ts";
import {
  allNotified,
  atRest,
  conduct,
  fanOut,
  Gate,
  Listener,
  type Neighbours,
  neighbours,
  publish,
  rowsOf,
  standIn,
  type StandIns,
  delivered,
  truly,
} from "./fan-out-subscribers.ts";
import { Upstream } from "../upstream.ts";

let standIns: StandIns;

beforeEach(() => {
  standIns = standIn();
});
afterEach(() => {
  vi.restoreAllMocks();
});

async function subscribed(count: number): Promise<Neighbours> {
  return neighbours((await Upstream.take({ server: "legacy" })).slug, count);
}

/** With a bound: an object that has nothing to do is let go at once. */
async function evict(object: DurableObjectStub): Promise<void> {
  await runInDurableObject(object, () => undefined); // only one that runs can be
  await within(evictDurableObject(object), "an idle branch to be let go");
}

/** The numbers of the news that each session received. */
function seqsOf(ids: readonly string[]): readonly (readonly number[])[] {
  return ids.map((id) => (delivered.get(id) ?? []).map(({ seq }) => seq));
}

describe("a branch that is lost", () => {
  test("right after it has accepted news delivers it when its alarm fires", async ({ expect }) => {
    const { slug, ids, object } = await subscribed(30);
    const gate = new Gate();
    for (const id of ids) conduct.set(id, gate.pass);
    await object().publish({ slug, seq: 1, topics: ["tools"] });
    await abortAllDurableObjects();
    conduct.clear();
    delivered.clear();
    const alarm = await runInDurableObject(object(), (_, { storage }) => storage.getAlarm());
    expect(alarm).toBeLessThanOrEqual(Date.now() + 30_000);
    await runDurableObjectAlarm(object());
    await atRest(slug);
    expect(seqsOf(ids)).toEqual(ids.map(() => [1]));
  });

  test("in the middle of a delivery delivers again, under the same number", async ({ expect }) => {
    const { slug, ids, object } = await subscribed(30);
    const gate = new Gate();
    for (const id of ids.slice(20)) conduct.set(id, gate.pass);
    await object().publish({ slug, seq: 7, topics: ["tools"] });
    await until(async () => allNotified(ids), "all to be called");
    expect(await rowsOf(slug, "due_1")).toBe(1);
    await abortAllDurableObjects();
    conduct.clear();
    // The feed does not know that it was taken.
    await object().publish({ slug, seq: 7, topics: ["tools"] });
    await atRest(slug);
    expect(seqsOf(ids)).toEqual(ids.map(() => [7, 7]));
  });

  test("sends the feeds its interests again, once", async ({ expect }) => {
    const { slug, ids } = await subscribed(3);
    const [one = ""] = ids;
    const { watch } = standIns;
    watch.mockClear();
    await branchFor(env, one).subscribe(one, { [slug]: ["tools"] });
    expect(watch).not.toHaveBeenCalled();
    await abortAllDurableObjects();
    for (const id of ids) await branchFor(env, id).subscribe(id, { [slug]: ["tools"] });
    const asked = { add: ["tools"], remove: [], isRenewed: false, isLate: false };
    expect(watch.mock.calls).toEqual([[branchOf(one), asked]]);
  });

  test("loses its listeners, who notice, and leaves nothing of them behind", async ({ expect }) => {
    const { slug } = await Upstream.take({ server: "legacy" });
    const listeners = await Listener.many(40, { [slug]: ["tools"] });
    expect(await rowsOf(slug, "wants_1")).toBe(40);
    await abortAllDurableObjects();
    await until(async () => truly(listeners.every(({ isOver }) => isOver)), "all to notice");
    expect(await rowsOf(slug, "wants_1")).toBe(0);
  });
});

describe("a listener whose branch is lost", () => {
  test("before it has answered is not left waiting", async ({ expect }) => {
    const { slug } = await Upstream.take({ server: "legacy" });
    standIns.watch.mockImplementation(new Gate().pass as never);
    const listening = fanOut.listen({ [slug]: ["tools"] }).then(
      () => "answered",
      () => "refused",
    );
    await until(async () => truly((await rowsOf(slug, "wants_1")) === 1), "it to have asked");
    await abortAllDurableObjects();
    expect(await within(listening, "it to notice")).toBe("refused");
    expect(await rowsOf(slug, "wants_1")).toBe(0);
  });
});

describe("a branch that is let go", () => {
  test("after any news is so at once: nothing is left running", async ({ expect }) => {
    const { slug, ids, object } = await subscribed(10);
    const listener = await Listener.open({ [slug]: ["tools"] });
    for (let seq = 1; seq <= 3; seq += 1) {
      await publish({ slug, seq, topics: ["tools"] });
      await atRest(slug);
      await until(
        async () => truly(listener.received.length === seq),
        "the listener to be notified",
      );
      await evict(object());
    }
    expect(seqsOf(ids)).toEqual(ids.map(() => [1, 2, 3]));
    await object().publish({ slug, seq: 3, topics: ["tools"] });
    expect(await rowsOf(slug, "due_1")).toBe(0);
    expect(listener.isOver).toBe(false);
    listener.socket.close();
  });

  test("in the middle of a delivery goes on, and every subscriber is notified", async ({
    expect,
  }) => {
    const { slug, ids, object } = await subscribed(10);
    const gate = new Gate();
    conduct.set(ids.at(-1) ?? "", gate.pass);
    await object().publish({ slug, seq: 1, topics: ["tools"] });
    await until(async () => allNotified(ids), "all to be called");
    const evicted = evictDurableObject(object());
    gate.isOpen = true;
    await within(evicted, "it to be let go");
    await atRest(slug);
    for (const seqs of seqsOf(ids)) expect(new Set(seqs)).toEqual(new Set([1]));
  });

  test("keeps its listeners, and forgets at once those that leave", async ({ expect }) => {
    const { slug } = await Upstream.take({ server: "legacy" });
    const listeners = await Listener.many(64, { [slug]: ["tools", "uri:x"] });
    for (let n = 0; n < BRANCHES; n += 1) await evict(env.FAN_OUT.getByName(branchName(n)));
    await publish({ slug, seq: 1, topics: ["uri:x"] });
    const isSo = (): boolean => listeners.every(({ received }) => received.length === 1);
    await until(async () => truly(isSo()), "all to be notified");
    for (const { socket } of listeners) socket.close();
    await until(async () => truly((await rowsOf(slug, "wants_1")) === 0), "them to be forgotten");
    expect(listeners.every(({ isOver }) => isOver)).toBe(true);
  });
});
