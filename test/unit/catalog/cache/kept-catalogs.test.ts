/** The catalogs that an isolate holds: their weight and their time. */

import { afterEach, beforeEach, test, vi } from "vitest";

import type { Catalog } from "../../../../src/catalog/catalog.ts";
import { type Kept, KeptCatalogs } from "../../../../src/catalog/cache/kept-catalogs.ts";
import { catalogOf, things } from "../../notifications/source/fake-feeds.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const kept = (catalog: Catalog | undefined): Kept => ({
  ...{ catalog, trouble: undefined, freshUntil: 0, hastyUntil: 0, seenAt: 0 },
  askedAt: Date.now(),
});

/** One tool of about so many bytes. */
const heavy = (bytes: number, letter = "x"): Catalog =>
  catalogOf({ lists: { tools: things("name", ["t"], { description: letter.repeat(bytes) }) } });

test("holds what it was given for its time", ({ expect }) => {
  const cache = new KeptCatalogs({ maxWeight: 1e6, ttlMs: 1000 });
  const one = kept(heavy(10));
  cache.set("a", one);
  vi.setSystemTime(Date.now() + 999);
  expect(cache.get("a")).toBe(one);
  vi.setSystemTime(Date.now() + 1);
  expect(cache.get("a")).toBeUndefined();
  expect(cache.get("constructor")).toBeUndefined();
});

test("lets those go that were not set for longest, until the rest fits", ({ expect }) => {
  const cache = new KeptCatalogs({ maxWeight: 3500, ttlMs: 1000 });
  const a = heavy(1000);
  for (const [key, catalog] of [
    ["a", a],
    ["b", heavy(1000)],
    ["c", heavy(1000)],
  ] as const) {
    cache.set(key, kept(catalog));
  }
  cache.set("a", kept(a));
  cache.set("d", kept(heavy(1000)));
  const there = ["a", "b", "c", "d"].filter((key) => cache.get(key) !== undefined);
  expect(there).toEqual(["a", "c", "d"]);
});

test("holds nothing that is too heavy by itself, and goes on", ({ expect }) => {
  const cache = new KeptCatalogs({ maxWeight: 2000, ttlMs: 1000 });
  cache.set("a", kept(heavy(3000)));
  cache.set("b", kept(heavy(1000)));
  expect([cache.get("a"), cache.get("b") === undefined]).toEqual([undefined, false]);
});

test("counts what takes two bytes a character as that", ({ expect }) => {
  const cache = new KeptCatalogs({ maxWeight: 3500, ttlMs: 1000 });
  cache.set("a", kept(heavy(1500, "—")));
  cache.set("b", kept(heavy(1500)));
  expect(cache.get("a")).toBeUndefined();
});

test("counts each once: what was set again, replaced and forgotten weighs nothing", ({
  expect,
}) => {
  const cache = new KeptCatalogs({ maxWeight: 3500, ttlMs: 1000 });
  const same = heavy(1000);
  for (let n = 0; n < 50; n++) cache.set("a", kept(same));
  for (let n = 0; n < 50; n++) cache.set("b", kept(heavy(1000)));
  for (let n = 0; n < 50; n++) {
    cache.set("c", kept(heavy(1000)));
    cache.delete("c");
    cache.delete("c");
  }
  cache.set("d", kept(undefined));
  cache.set("e", kept(heavy(1000)));
  const there = ["a", "b", "c", "d", "e"].filter((key) => cache.get(key) !== undefined);
  expect(there).toEqual(["a", "b", "d", "e"]);
});
