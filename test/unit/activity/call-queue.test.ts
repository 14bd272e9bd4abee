/** What becomes of more calls than can be written down: they are counted, every one. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { MAX_QUEUED } from "../../../src/activity/call-queue.ts";
import { Outpost, record } from "./call-fixture.ts";

describe("a queue of calls", () => {
  test("P13: holds so many, and says of whom and when it lacks the others", async ({ expect }) => {
    const outpost = new Outpost();
    for (let n = 0; n < MAX_QUEUED; n++) outpost.queue.add(record());
    for (let n = 0; n < 7; n++) outpost.queue.add(record({ at: 125_000, person: "bob" }));
    await outpost.queue.flush();
    expect(outpost.names).toHaveLength(MAX_QUEUED);
    expect(outpost.batches.flatMap(({ unlisted }) => unlisted)).toEqual([
      { minute: 120_000, person: "bob", calls: 7 },
    ]);
    outpost.queue.add(record());
    await outpost.queue.flush();
    expect(outpost.names).toHaveLength(MAX_QUEUED + 1);
  });

  test("P13: loses no count, whatever happens", async ({ expect }) => {
    const steps = fc.array(
      fc.oneof(fc.integer({ min: 1, max: 1500 }), fc.constantFrom("flush", "down", "up")),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (steps) => {
        const outpost = new Outpost();
        let made = 0;
        for (const step of steps) {
          if (step === "flush") await outpost.queue.flush();
          else if (typeof step === "string") outpost.isDown = step === "down";
          else {
            for (let n = 0; n < step; n++) outpost.queue.add(record({ person: `u${n % 300}` }));
            made += step;
          }
        }
        outpost.isDown = false;
        await outpost.queue.flush();
        await outpost.queue.flush();
        expect(outpost.names.length + outpost.unlisted).toBe(made);
      }),
      { numRuns: 30 },
    );
  });

  test("sends batches that fit into a row", async ({ expect }) => {
    const outpost = new Outpost();
    for (let n = 0; n < MAX_QUEUED; n++) outpost.queue.add(record({ name: "ü".repeat(200) }));
    await outpost.queue.flush();
    const bytes = outpost.batches.map(
      ({ lines }) => new TextEncoder().encode(lines.join("\n")).length,
    );
    expect(Math.max(...bytes)).toBeLessThan(2_000_000);
    expect(outpost.names).toHaveLength(MAX_QUEUED);
  });
});
