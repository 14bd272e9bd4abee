/**
 * The platform takes the memory of the objects between a server and its listeners away at any time:
 * a listener gets later changes, and is notified of what may have changed meanwhile.
 */

// Has an isolate of its own: it counts the subscriptions of all.
import { abortAllDurableObjects, evictDurableObject, listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, test } from "vitest";

import { until, within } from "../bounded.ts";
import { modern } from "../client.ts";
import { EventReader, type Message } from "../event-reader.ts";
import { Upstream } from "../upstream.ts";

const URI = "file:///a";
const FILTER = { toolsListChanged: true, resourceSubscriptions: [URI] };
const UPDATED = { method: "notifications/resources/updated", params: { uri: URI } };
const ACK = "notifications/subscriptions/acknowledged";
const METHODS = ["notifications/tools/list_changed", UPDATED.method];

interface Listener {
  /** The messages since its acknowledgement. */
  readonly received: () => readonly Message[];
  readonly stream: EventReader;
}

async function listen(upstream: Upstream): Promise<Listener> {
  const params = { notifications: FILTER };
  const stream = new EventReader(await modern(upstream, "subscriptions/listen", params));
  const messages = stream.collect();
  await until(async () => messages[0], "the acknowledgement");
  if (messages[0]?.method !== ACK) throw new Error(`First: ${JSON.stringify(messages[0])}`);
  return { stream, received: () => messages.slice(1) };
}

async function receives(
  { received }: Listener,
  methods: readonly string[],
  after = 0,
): Promise<void> {
  const isSo = async (): Promise<true | undefined> => {
    const said = received()
      .slice(after)
      .map(({ method }) => method);
    return methods.every((method) => said.includes(method)) ? true : undefined;
  };
  await until(isSo, `the listener to receive ${methods.join(" and ")}`);
}

/** Every branch of the fan-out: those that only hold connections are let go at once. */
async function evictBranches(): Promise<void> {
  for (const id of await listDurableObjectIds(env.FAN_OUT)) {
    await within(evictDurableObject(env.FAN_OUT.get(id)), "a branch to be let go");
  }
}

describe("a listener", () => {
  test("notices nothing when its branch sleeps", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern" });
    const listeners = await Promise.all([listen(upstream), listen(upstream), listen(upstream)]);
    for (let n = 1; n <= 3; n++) {
      await evictBranches();
      await upstream.send(UPDATED);
      for (const listener of listeners) {
        await receives(listener, [UPDATED.method], n - 1);
        expect(listener.received()).toHaveLength(n);
      }
    }
    await Promise.all(listeners.map(({ stream }) => stream.cancel()));
  });

  test("is notified of everything when the objects are lost, and of later changes", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "modern" });
    const listeners = await Promise.all([listen(upstream), listen(upstream)]);
    for (let n = 0; n < 3; n++) {
      const before = listeners.map(({ received }) => received().length);
      await abortAllDurableObjects();
      for (const [at, listener] of listeners.entries())
        await receives(listener, METHODS, before[at]);
    }
    await upstream.send(UPDATED);
    const before = listeners.map(({ received }) => received().length);
    await upstream.send({ method: METHODS[0] ?? "" });
    for (const [at, listener] of listeners.entries()) {
      await receives(listener, METHODS.slice(0, 1), before[at]);
      const acknowledgements = listener.received().filter(({ method }) => method === ACK);
      expect(acknowledgements).toEqual([]);
    }
    await Promise.all(listeners.map(({ stream }) => stream.cancel()));
  });

  test("is acknowledged although the objects are lost meanwhile", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern" });
    const starting = Promise.all(Array.from({ length: 5 }, () => listen(upstream)));
    await upstream.receives("subscriptions/listen");
    await abortAllDurableObjects();
    const listeners = await starting;
    await upstream.send(UPDATED);
    for (const listener of listeners) await receives(listener, [UPDATED.method]);
    expect(listeners).toHaveLength(5);
    await Promise.all(listeners.map(({ stream }) => stream.cancel()));
  });
});
