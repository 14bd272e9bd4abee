/** The registry: keys that are made once, outlive their object's memory, and are replaced. */

import { abortAllDurableObjects, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { FanOutObject } from "../../../durable-objects/fan-out-object.ts";
import type { RegistryObject } from "../../../durable-objects/registry-object.ts";
import { SessionKeys } from "../../../src/endpoint/keyring.ts";
import { within } from "../bounded.ts";

const DAY = 86_400_000;
let count = 0;

/** A registry that no other test knows. */
function registry(): DurableObjectStub<RegistryObject> {
  count += 1;
  return again();
}

/** The same one by another stub: one whose object was lost stays broken. */
function again(): DurableObjectStub<RegistryObject> {
  return env.REGISTRY.getByName(`of the registry's tests, ${count}`);
}

function later(days: number): void {
  vi.setSystemTime(Date.now() + days * DAY);
}

const KEY = /^[\w-]{43}$/;

test("a later life announces that servers were added, where an earlier one could not", async ({
  expect,
}) => {
  const object = registry();
  await object.watch(3, { add: ["tools"], remove: [] });
  const published = vi.spyOn(FanOutObject.prototype, "publish").mockImplementation(() => {
    throw new Error("It is being restarted");
  });
  const author = { changedBy: "operator", changedAt: 0, provenance: { kind: "url" } } as const;
  const entry = { url: "https://server.example/mcp" };
  const server = { slug: "added", state: "draft", entry, secretNames: [], ...author };
  expect(await object.putServer(JSON.stringify(server), 0)).toMatchObject({ kind: "changed" });
  await expect.poll(() => published.mock.calls.length).toBeGreaterThan(0);
  await abortAllDurableObjects();
  published.mockReset();
  // As each isolate asks now and then.
  await again().addedServers();
  await expect.poll(() => published.mock.calls.length).toBeGreaterThan(0);
  published.mockRestore();
});

describe("the keys of session ids", () => {
  test("are made once, for all who ask at the same time", async ({ expect }) => {
    const object = registry();
    const answers = await Promise.all(Array.from({ length: 10 }, () => object.sessionKeys()));
    expect(answers[0]).toEqual([expect.stringMatching(KEY)]);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await registry().sessionKeys()).not.toEqual(answers[0]);
  });

  test.for([
    {
      name: "is evicted",
      lose: (object: DurableObjectStub) =>
        within(evictDurableObject(object), "an idle object to be let go"),
    },
    { name: "is lost", lose: () => abortAllDurableObjects() },
  ])("are the same after their object $name", async ({ lose }, { expect }) => {
    const object = registry();
    const before = await object.sessionKeys();
    await lose(object);
    expect(await again().sessionKeys()).toEqual(before);
  });

  test("are written when they change, and not when they are read", async ({ expect }) => {
    const object = registry();
    await object.sessionKeys();
    const puts = await runInDurableObject(object, (instance, { storage }) => {
      const put = vi.spyOn(storage.kv, "put");
      instance.sessionKeys();
      return put.mock.calls.length;
    });
    expect(puts).toBe(0);
  });

  test("fill the ring of an isolate", async ({ expect }) => {
    const object = registry();
    const keys = new SessionKeys(() => object.sessionKeys());
    const { currentId, keys: held } = await keys.keyring();
    expect(currentId).toMatch(/^[0-9a-f]{8}$/);
    expect([...held.keys()]).toEqual([currentId]);
  });
});

describe("with time, the keys", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("get a new one in front after 30 days, which stays when the object goes", async ({
    expect,
  }) => {
    const object = registry();
    const first = await object.sessionKeys();
    later(30);
    expect(await object.sessionKeys()).toEqual(first);
    later(0.01);
    const answers = await Promise.all([object.sessionKeys(), object.sessionKeys()]);
    expect(answers[0]).toEqual([expect.stringMatching(KEY), ...first]);
    expect(answers[1]).toEqual(answers[0]);
    await evictDurableObject(object);
    expect(await object.sessionKeys()).toEqual(answers[0]);
  });

  test("are kept while an id may need them, and then dropped", async ({ expect }) => {
    const object = registry();
    const [first = ""] = await object.sessionKeys();
    let now: readonly string[] = [];
    // 365 days of an id's life, 30 of sealing, and 30 for an isolate that learns of a rotation late.
    for (let day = 0; day < 425; day += 25) {
      later(25);
      now = await object.sessionKeys();
      expect(now).toContain(first);
    }
    expect(new Set(now).size).toBe(now.length);
    later(1);
    const left = await object.sessionKeys();
    expect(left).not.toContain(first);
    // What was left out is not stored either.
    const stored = await runInDurableObject(object, (_instance, { storage }) =>
      JSON.stringify([...storage.kv.list()]),
    );
    expect(stored).not.toContain(first);
    for (const key of left) expect(stored).toContain(key);
  });
});
