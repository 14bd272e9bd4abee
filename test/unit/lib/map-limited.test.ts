/** Work on many items with a limited number of calls at a time. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { mapLimited } from "../../../src/lib/map-limited.ts";

const settle = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve));

/** Calls that end when the test ends them, by item. */
class Calls {
  readonly started: number[] = [];
  readonly #underWay = new Map<number, PromiseWithResolvers<number>>();
  mostUnderWay = 0;

  readonly map = (item: number): Promise<number> => {
    const call = Promise.withResolvers<number>();
    this.started.push(item);
    this.#underWay.set(item, call);
    this.mostUnderWay = Math.max(this.mostUnderWay, this.#underWay.size);
    return call.promise;
  };

  get underWay(): readonly number[] {
    return [...this.#underWay.keys()];
  }

  async end(item: number, error?: Error): Promise<void> {
    const call = this.#underWay.get(item);
    this.#underWay.delete(item);
    if (error === undefined) call?.resolve(item * 10);
    else call?.reject(error);
    await settle();
  }
}

describe("mapLimited()", () => {
  test("returns the results in the order of the items, in whatever order the calls end", async ({
    expect,
  }) => {
    const orders = fc.asyncProperty(
      fc.uniqueArray(fc.nat(), { maxLength: 12 }),
      fc.integer({ min: 1, max: 5 }),
      fc.infiniteStream(fc.nat()),
      async (items, limit, draws) => {
        const calls = new Calls();
        const mapped = mapLimited(items, limit, calls.map);
        for (const draw of draws.take(items.length)) {
          expect(calls.underWay).toHaveLength(
            Math.min(limit, items.length - calls.started.length + calls.underWay.length),
          );
          await calls.end(calls.underWay[draw % calls.underWay.length] ?? NaN);
        }
        expect(await mapped).toEqual(items.map((item) => item * 10));
        expect(calls.started).toEqual(items);
        expect(calls.mostUnderWay).toBe(Math.min(limit, items.length));
      },
    );
    await fc.assert(orders, { numRuns: 50, seed: 17 });
  });

  test("throws the first error, and starts no call after it", async ({ expect }) => {
    const calls = new Calls();
    const mapped = mapLimited([1, 2, 3, 4], 2, calls.map);
    const failed = expect(mapped).rejects.toThrow("the second");
    await calls.end(2, new Error("the second"));
    await failed;
    await calls.end(1, new Error("the first, later"));
    expect(calls.started).toEqual([1, 2]);
  });

  test("starts no call after an abort, and throws its reason", async ({ expect }) => {
    const calls = new Calls();
    const controller = new AbortController();
    const mapped = mapLimited([1, 2, 3], 1, calls.map, controller.signal);
    const failed = expect(mapped).rejects.toThrow("enough");
    controller.abort(new Error("enough"));
    await calls.end(1);
    await failed;
    expect(calls.started).toEqual([1]);
  });

  test("starts no call when the signal was aborted before", async ({ expect }) => {
    const calls = new Calls();
    const aborted = AbortSignal.abort(new Error("too late"));
    await expect(mapLimited([1], 1, calls.map, aborted)).rejects.toThrow("too late");
    expect(calls.started).toEqual([]);
  });
});
