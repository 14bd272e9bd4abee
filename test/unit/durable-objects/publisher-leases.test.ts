/** The ends of grants and keys by which people publish: an object that does not answer holds up no other one's. */

import { test } from "vitest";

import { PublisherLeases } from "../../../durable-objects/publisher-leases.ts";
import { withSql } from "../lib/sql-fixture.ts";

test("an object that does not answer holds up nobody else's end", async ({ expect }) => {
  await withSql(async ({ sql, rowsIn }) => {
    const told: string[] = [];
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const leases = new PublisherLeases({
      sql,
      isGood: () => true,
      tell: async (person) => {
        told.push(person);
        if (person === "ann") await answered;
      },
      retryBy: () => undefined,
      waitUntil: () => undefined,
    });
    for (const person of ["ann", "bob"]) leases.hold(person, `key of ${person}`);
    leases.end(["ann", "bob"]);
    expect(told).toEqual(["ann", "bob"]);
    await expect.poll(() => rowsIn("publisher_leases_1")).toBe(1);
    answer();
    await expect.poll(() => rowsIn("publisher_leases_1")).toBe(0);
  });
});
