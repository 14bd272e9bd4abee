/** The keys that an isolate holds: for how long, and how often it asks their source. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { toBase64Url } from "../../../src/lib/base64url.ts";
import { SessionKeys } from "../../../src/endpoint/keyring.ts";

const material = (byte: number): string => toBase64Url(new Uint8Array(32).fill(byte));
/** Their ids, in the order of their bytes, by SHA-256. */
const IDS = ["66687aad", "72cd6e84", "75877bb4"] as const;

/** A source that counts how often it is asked, and that can be held up or broken. */
class Source {
  keys: readonly string[] = [material(0)];
  asked = 0;
  failure: Error | undefined;
  gate: Promise<void> | undefined;
  readonly held = new SessionKeys(async () => {
    this.asked += 1;
    const { keys, failure } = this;
    await this.gate;
    if (failure !== undefined) throw failure;
    return keys;
  });
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function later(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

describe("ring()", () => {
  test("has the keys by their ids, and the newest seals", async ({ expect }) => {
    const source = new Source();
    source.keys = [material(1), material(0)];
    const ring = await source.held.keyring();
    expect(ring.currentId).toBe(IDS[1]);
    expect([...ring.keys.keys()]).toEqual([IDS[1], IDS[0]]);
  });

  test("is asked for every ten minutes", async ({ expect }) => {
    const source = new Source();
    const first = await source.held.keyring();
    later(599_999);
    expect(await source.held.keyring()).toBe(first);
    expect(source.asked).toBe(1);
    source.keys = [material(1), material(0)];
    later(1);
    expect((await source.held.keyring()).currentId).toBe(IDS[1]);
    expect(source.asked).toBe(2);
  });

  test("is renewed by one request while the others go on", async ({ expect }) => {
    const source = new Source();
    const old = await source.held.keyring();
    source.keys = [material(1)];
    later(600_000);
    const { promise, resolve: open } = Promise.withResolvers<void>();
    source.gate = promise;
    const renewed = source.held.keyring();
    expect(await source.held.keyring()).toBe(old);
    open();
    expect((await renewed).currentId).toBe(IDS[1]);
    expect(source.asked).toBe(2);
  });

  test("outlives a source that fails, which is asked again after ten seconds", async ({
    expect,
  }) => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const source = new Source();
    const old = await source.held.keyring();
    source.failure = new Error("down");
    later(600_000);
    for (const wait of [0, 9999, 1]) {
      later(wait);
      expect(await source.held.keyring()).toBe(old);
    }
    expect([source.asked, logged.mock.calls.length]).toEqual([3, 2]);
    source.failure = undefined;
    source.keys = [material(2)];
    later(10_000);
    expect((await source.held.keyring()).currentId).toBe(IDS[2]);
  });

  test("rejects while there never was one, and asks the source again", async ({ expect }) => {
    const source = new Source();
    source.failure = new Error("down");
    await expect(source.held.keyring()).rejects.toThrow("down");
    await expect(source.held.keyringFor(IDS[0])).rejects.toThrow("down");
    source.failure = undefined;
    expect((await source.held.keyring()).currentId).toBe(IDS[0]);
  });

  test.for([
    { name: "no keys", keys: [] },
    { name: "a key that is too short", keys: [material(0), material(1).slice(4)] },
    { name: "a key that is not base64url", keys: ["hunter2!"] },
  ])("refuses $name and does not quote it", async ({ keys }, { expect }) => {
    const source = new Source();
    source.keys = keys;
    const refused = await source.held.keyring().catch(String);
    expect(refused).toMatch(/^(?:Range)?Error: .*key/);
    for (const key of keys) expect(refused).not.toContain(key);
  });

  test("is waited for by each request on its own, since a promise belongs to one", async ({
    expect,
  }) => {
    const source = new Source();
    const [first, second] = await Promise.all([source.held.keyring(), source.held.keyring()]);
    expect(source.asked).toBe(2);
    expect(first.currentId).toBe(second.currentId);
  });
});

describe("ringFor()", () => {
  test("does not ask the source for a key that is held", async ({ expect }) => {
    const source = new Source();
    for (let n = 0; n < 3; n++) await source.held.keyringFor(IDS[0]);
    expect(source.asked).toBe(1);
  });

  test("gets the key that another isolate has sealed with just now", async ({ expect }) => {
    const source = new Source();
    await source.held.keyring();
    source.keys = [material(1), material(0)];
    expect((await source.held.keyringFor(IDS[1])).keys.has(IDS[1])).toBe(true);
    expect((await source.held.keyring()).currentId).toBe(IDS[1]);
    expect(source.asked).toBe(2);
  });

  test("gets it for all the requests that bring it at once, and asks once", async ({ expect }) => {
    const source = new Source();
    await source.held.keyring();
    source.keys = [material(1), material(0)];
    const { promise, resolve: open } = Promise.withResolvers<void>();
    source.gate = promise;
    const rings = Promise.all([1, 2, 3].map(() => source.held.keyringFor(IDS[1])));
    // Each request waits on its own timer.
    setTimeout(open, 50);
    for (const ring of await rings) expect(ring.keys.has(IDS[1])).toBe(true);
    expect(source.asked).toBe(2);
  });

  test("does not ask twice for an id that comes first of all", async ({ expect }) => {
    const source = new Source();
    expect((await source.held.keyringFor("deadbeef")).currentId).toBe(IDS[0]);
    expect(source.asked).toBe(1);
  });

  test("asks once in ten seconds about ids that are made up", async ({ expect }) => {
    const source = new Source();
    await source.held.keyring();
    for (let n = 0; n < 50; n++) await source.held.keyringFor(`forged${n}`);
    await Promise.all([1, 2, 3].map((n) => source.held.keyringFor(`other${n}`)));
    expect(source.asked).toBe(2);
    later(9999);
    await source.held.keyringFor("deadbeef");
    expect(source.asked).toBe(2);
    later(1);
    await source.held.keyringFor("deadbeef");
    expect(source.asked).toBe(3);
  });

  test("asks no more often when the source fails", async ({ expect }) => {
    const source = new Source();
    await source.held.keyring();
    source.failure = new Error("down");
    await expect(source.held.keyringFor("deadbeef")).rejects.toThrow("down");
    expect((await source.held.keyringFor("deadbeef")).currentId).toBe(IDS[0]);
    expect(source.asked).toBe(2);
  });

  test("waits a while for a request that never comes back, and not for ever", async ({
    expect,
  }) => {
    const source = new Source();
    const old = await source.held.keyring();
    const { promise, resolve: open } = Promise.withResolvers<void>();
    source.gate = promise;
    const cancelled = source.held.keyringFor(IDS[1]);
    expect(await source.held.keyringFor(IDS[1])).toBe(old);
    open();
    await cancelled;
  });
});
