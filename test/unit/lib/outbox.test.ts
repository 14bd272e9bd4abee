/** Delivery until it is acknowledged, over rows in memory. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { MemoryRows, Outbox, type OutboxRows } from "../../../src/lib/outbox.ts";
import { outboxProperty } from "./outbox-suite.ts";

const BACKOFF = { firstMs: 100, maxMs: 1000 };

function memoryRows(clock: { readonly now: number }): MemoryRows<string, string> {
  let number = 0;
  const nextNumber = (): number => ++number;
  return new MemoryRows({ backoff: BACKOFF, nextNumber, now: () => clock.now });
}

async function settled(): Promise<void> {
  for (let n = 0; n < 20; n++) await Promise.resolve();
}

describe("an outbox over rows in memory", () => {
  test("delivers everything, in order, and nothing again, whatever happens", async ({ expect }) => {
    await fc.assert(
      outboxProperty(
        (clock) => {
          const rows = memoryRows(clock);
          return {
            rows,
            append: (recipient, item) => rows.append(recipient, item),
            withdraw: (recipient, item) => rows.withdraw(recipient, item),
            itemsOf: ({ items }) => items,
            numberOf: ({ number }) => number,
          };
        },
        { canEvict: false },
        (violations) => expect(violations).toEqual([]),
      ),
      { numRuns: 500 },
    );
  });

  test("delivers again after pauses that grow, under the same number", async ({ expect }) => {
    const clock = { now: 0 };
    const rows = memoryRows(clock);
    const delivered: unknown[] = [];
    const failedAt: number[] = [];
    const outbox = new Outbox({
      rows,
      deliver: async (_, { number, items }) => {
        delivered.push([clock.now, number, ...items]);
        return clock.now >= 3700;
      },
      onFailed: () => failedAt.push(rows.soonest() ?? NaN),
    });
    rows.append("r", "a");
    for (; clock.now <= 5000; clock.now += 50) {
      await outbox.deliverDue();
      if (clock.now === 50) rows.append("r", "b");
    }
    const again = [0, 100, 300, 700, 1500, 2500, 3500, 4500].map((at) => [at, 1, "a"]);
    expect(delivered).toEqual([...again, [4500, 2, "b"]]);
    expect(failedAt).toEqual([100, 300, 700, 1500, 2500, 3500, 4500]);
    expect(rows.soonest()).toBe(undefined);
  });

  test("has no recipient wait for another", async ({ expect }) => {
    const rows = memoryRows({ now: 0 });
    const delivered: string[] = [];
    const outbox = new Outbox({
      rows,
      deliver: (recipient) => {
        delivered.push(recipient);
        return recipient === "hangs" ? new Promise(() => undefined) : Promise.resolve(true);
      },
    });
    for (const recipient of ["hangs", "r", "s"]) rows.append(recipient, "a");
    void outbox.deliverDue();
    await settled();
    for (const recipient of ["hangs", "r", "s"]) rows.append(recipient, "b");
    void outbox.deliverDue();
    await settled();
    expect(delivered).toEqual(["hangs", "r", "s", "r", "s"]);
    expect([outbox.isBusy("hangs"), outbox.isBusy("r")]).toEqual([true, false]);
  });

  test("delivers to as many recipients that are due as there are places", async ({ expect }) => {
    const rows = memoryRows({ now: 0 });
    const ends: (() => void)[] = [];
    const waiting: (() => void)[] = [];
    let places = 2;
    const release = (): void => {
      places += 1;
      waiting.shift()?.();
    };
    const outbox = new Outbox({
      rows,
      deliver: () => new Promise<boolean>((resolve) => ends.push(() => resolve(true))),
      place: async () => {
        if (places === 0) await new Promise<void>((resolve) => waiting.push(resolve));
        places -= 1;
        return release;
      },
    });
    for (const recipient of ["a", "b", "c"]) rows.append(recipient, "x");
    const done = outbox.deliverDue();
    await settled();
    expect(ends).toHaveLength(2);
    ends[0]?.();
    await settled();
    expect(ends).toHaveLength(3);
    for (const end of ends) end();
    await done;
    expect(places).toBe(2);
  });

  test("can be used again after its rows have thrown", async ({ expect }) => {
    const rows = memoryRows({ now: 0 });
    let isBroken = true;
    const breaking: OutboxRows<string, unknown> = {
      next: (recipient) => {
        if (isBroken) throw new Error("The database is full");
        return rows.next(recipient);
      },
      acknowledged: (recipient) => rows.acknowledged(recipient),
      trying: () => undefined,
      failed: (recipient) => rows.failed(recipient),
      due: () => rows.due(),
      soonest: () => rows.soonest(),
    };
    const outbox = new Outbox({ rows: breaking, deliver: () => Promise.resolve(true) });
    rows.append("r", "a");
    await expect(outbox.deliverDue()).rejects.toThrow("The database is full");
    isBroken = false;
    await outbox.deliverDue();
    expect(rows.next("r")).toBe(undefined);
  });
});
