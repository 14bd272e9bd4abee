/** A cache with a bound and an expiry, on a fake clock. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { BoundedCache } from "../../../src/lib/bounded-cache.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function later(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

test("a value is held until its time is over", ({ expect }) => {
  const cache = new BoundedCache<number>({ maxEntries: 10, ttlMs: 1000 });
  cache.set("a", 0);
  later(999);
  expect(cache.get("a")).toBe(0);
  later(1);
  expect(cache.get("a")).toBeUndefined();
});

test("a value without a time is held for ever", ({ expect }) => {
  const cache = new BoundedCache<number>({ maxEntries: 10 });
  cache.set("a", 0);
  later(1e12);
  expect(cache.get("a")).toBe(0);
});

test("reading does not prolong the time, setting does", ({ expect }) => {
  const cache = new BoundedCache<number>({ maxEntries: 10, ttlMs: 1000 });
  cache.set("a", 1);
  cache.set("b", 1);
  later(600);
  cache.get("a");
  cache.set("b", 2);
  later(600);
  expect([cache.get("a"), cache.get("b")]).toEqual([undefined, 2]);
});

test("a full cache drops the oldest value, and a value set again is the newest", ({ expect }) => {
  const cache = new BoundedCache<string>({ maxEntries: 2, ttlMs: 1000 });
  cache.set("a", "1");
  cache.set("b", "1");
  cache.set("a", "2");
  cache.set("c", "1");
  expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual(["2", undefined, "1"]);
});

test("a deleted value is gone, and its room is free", ({ expect }) => {
  const cache = new BoundedCache<number>({ maxEntries: 2, ttlMs: 1000 });
  cache.set("a", 1);
  cache.set("b", 2);
  cache.delete("a");
  cache.delete("never there");
  cache.set("c", 3);
  expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([undefined, 2, 3]);
});

test("names of object members are no entries", ({ expect }) => {
  const cache = new BoundedCache<number>({ maxEntries: 2, ttlMs: 1000 });
  expect([cache.get("constructor"), cache.get("__proto__")]).toEqual([undefined, undefined]);
});

describe("with weights", () => {
  test("the oldest values are dropped until the rest fits", ({ expect }) => {
    const cache = new BoundedCache<string>({ maxWeight: 10 });
    for (const key of ["a", "b", "c"]) cache.set(key, key, 3);
    cache.set("a", "again", 3);
    cache.set("d", "d", 4);
    expect(["a", "b", "c", "d"].map((key) => cache.get(key))).toEqual([
      "again",
      undefined,
      "c",
      "d",
    ]);
  });

  test("a value that is too heavy by itself is not held, and drops no other", ({ expect }) => {
    const cache = new BoundedCache<string>({ maxWeight: 10 });
    cache.set("a", "a", 10);
    cache.set("b", "b", 11);
    expect([cache.get("a"), cache.get("b")]).toEqual(["a", undefined]);
    cache.set("a", "heavier", 11);
    expect(cache.get("a")).toBeUndefined();
  });
});
