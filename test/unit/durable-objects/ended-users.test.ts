/** What other objects keep of people who have ended: when it ends, and what must not end with it. */

import { test } from "vitest";

import { EndedUsers } from "../../../durable-objects/ended-users.ts";
import type { Sql } from "../../../src/lib/sql.ts";
import { withSql } from "../lib/sql-fixture.ts";

/** People whose end waits for its turn; until then it says so. */
function waiting(sql: Sql): { readonly users: EndedUsers; readonly ends: Ending[] } {
  const ends: Ending[] = [];
  const users = new EndedUsers(sql, {
    table: "ended_accounts_1",
    end: (user) => {
      const ending = { user, ...Promise.withResolvers<void>() };
      ends.push(ending);
      return ending.promise;
    },
    retryBy: () => undefined,
  });
  return { users, ends };
}

type Ending = { readonly user: string } & PromiseWithResolvers<void>;

test("a person who is let in again while their end is under way keeps what they begin", async ({
  expect,
}) => {
  await withSql(async ({ sql, rowsIn }) => {
    const { users, ends } = waiting(sql);
    const ended = users.end("a");
    const finished = users.finish("a");
    // A second end could come after what begins now.
    expect(ends.map(({ user }) => user)).toEqual(["a"]);
    ends[0]?.resolve();
    await Promise.all([ended, finished]);
    await users.finish("a");
    expect([ends.length, rowsIn("ended_accounts_1")]).toEqual([1, 0]);
  });
});

test("an object that does not answer holds up nobody else's end", async ({ expect }) => {
  await withSql(async ({ sql, rowsIn }) => {
    const { users, ends } = waiting(sql);
    for (const user of ["a", "b"]) void users.end(user);
    const next = waiting(sql);
    const retried = next.users.retry();
    expect(next.ends.map(({ user }) => user)).toEqual(["a", "b"]);
    next.ends[1]?.resolve();
    await next.users.finish("b");
    expect(rowsIn("ended_accounts_1")).toBe(1);
    next.ends[0]?.resolve();
    await retried;
    expect([ends.length, rowsIn("ended_accounts_1")]).toEqual([2, 0]);
  });
});

test("an end that is wanted again while one is under way is not done with that", async ({
  expect,
}) => {
  await withSql(async ({ sql, rowsIn }) => {
    const { users, ends } = waiting(sql);
    const [first, second] = [users.end("a"), users.end("a")];
    expect(ends).toHaveLength(2);
    ends[0]?.resolve();
    await first;
    ends[1]?.reject(new Error("The object is gone"));
    await second;
    expect(rowsIn("ended_accounts_1")).toBe(1);
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
