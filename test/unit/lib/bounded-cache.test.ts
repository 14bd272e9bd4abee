/** A cache with an expiry and a bound, by a fake clock. */

import { afterEach, beforeEach, test, vi } from "vitest";

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

test("holds a value until its time is over", ({ expect }) => {
  const cache = new BoundedCache<number>({ maxEntries: 10, ttlMs: 1000 });
  cache.set("a", 0);
  later(999);
  expect(cache.get("a")).toBe(0);
  later(1);
  expect(cache.get("a")).toBeUndefined();
});

test("reading does not prolong, setting does", ({ expect }) => {
  const cache = new BoundedCache<number>({ maxEntries: 10, ttlMs: 1000 });
  cache.set("a", 1);
  cache.set("b", 1);
  later(600);
  cache.get("a");
  cache.set("b", 2);
  later(600);
  expect([cache.get("a"), cache.get("b")]).toEqual([undefined, 2]);
});

test("lets the oldest go when it is full, and a value set anew is the newest", ({ expect }) => {
  const cache = new BoundedCache<string>({ maxEntries: 2, ttlMs: 1000 });
  cache.set("a", "1");
  cache.set("b", "1");
  cache.set("a", "2");
  cache.set("c", "1");
  expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual(["2", undefined, "1"]);
});

test("forgets what is deleted", ({ expect }) => {
  const cache = new BoundedCache<number>({ maxEntries: 2, ttlMs: 1000 });
  cache.set("a", 1);
  cache.delete("a");
  cache.delete("never there");
  expect(cache.get("a")).toBeUndefined();
});

test("knows nothing by birth", ({ expect }) => {
  const cache = new BoundedCache<number>({ maxEntries: 2, ttlMs: 1000 });
  expect([cache.get("constructor"), cache.get("__proto__")]).toEqual([undefined, undefined]);
});
