/** One after the other, for each key. */

import { describe, test } from "vitest";

import { KeyedMutex } from "../../../src/lib/keyed-mutex.ts";

/** Work that ends when the test ends it. */
function held(log: string[], name: string): { work: () => Promise<string>; end: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const work = async (): Promise<string> => {
    log.push(`${name} begins`);
    await promise;
    log.push(`${name} ends`);
    return name;
  };
  return { work, end: resolve };
}

describe("calls of a keyed mutex", () => {
  test("with one key run one after the other, and those with other keys do not wait", async ({
    expect,
  }) => {
    const turns = new KeyedMutex();
    const log: string[] = [];
    const [a, b, other] = ["a", "b", "other"].map((name) => held(log, name));
    if (a === undefined || b === undefined || other === undefined) throw new Error();
    const results = [turns.run("k", a.work), turns.run("k", b.work), turns.run("l", other.work)];
    b.end();
    other.end();
    expect(await results[2]).toBe("other");
    expect(log).toEqual(["a begins", "other begins", "other ends"]);
    a.end();
    expect(await Promise.all(results)).toEqual(["a", "b", "other"]);
    expect(log.slice(3)).toEqual(["a ends", "b begins", "b ends"]);
  });

  test("continue after one that failed", async ({ expect }) => {
    const turns = new KeyedMutex();
    const failed = turns.run("k", () => Promise.reject(new Error("no")));
    const next = turns.run("k", () => Promise.resolve("yes"));
    await expect(failed).rejects.toThrow("no");
    expect(await next).toBe("yes");
    expect(await turns.run("k", () => Promise.resolve("again"))).toBe("again");
  });
});
