/** What other objects keep of people who have ended: when it ends, and what must not end with it. */

import { test } from "vitest";

import { EndedUsers } from "../../../durable-objects/ended-users.ts";
import { withSql } from "../lib/sql-fixture.ts";

test("a person who is let in again while another one is waited for keeps what they begin", async ({
  expect,
}) => {
  await withSql(async ({ sql, rowsIn }) => {
    const ended: string[] = [];
    const first = Promise.withResolvers<void>();
    let isReachable = false;
    const users = new EndedUsers(sql, {
      table: "ended_accounts_1",
      end: async (user) => {
        if (!isReachable) throw new Error("The object is gone");
        ended.push(user);
        if (user === "a") await first.promise;
      },
      retryBy: () => undefined,
    });
    for (const user of ["a", "b"]) await users.end(user);
    isReachable = true;
    const retried = users.retry();
    expect(ended).toEqual(["a"]);
    await users.finish("b");
    // From here on they connect accounts.
    first.resolve();
    await retried;
    expect(ended).toEqual(["a", "b"]);
    expect(rowsIn("ended_accounts_1")).toBe(0);
  });
});

test("what could not be ended is tried again, and again", async ({ expect }) => {
  await withSql(async ({ sql, rowsIn }) => {
    const times: number[] = [];
    let failures = 2;
    const users = new EndedUsers(sql, {
      table: "ended_accounts_1",
      end: async () => {
        failures -= 1;
        if (failures >= 0) throw new Error("The object is gone");
      },
      retryBy: (at) => times.push(at),
    });
    await users.end("a");
    await users.retry();
    expect([times.length, rowsIn("ended_accounts_1")]).toEqual([2, 1]);
    await users.retry();
    await users.retry();
    expect([times.length, rowsIn("ended_accounts_1")]).toEqual([3, 0]);
  });
});
