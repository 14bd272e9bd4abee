/** Wrong owner's codes: how many one address has, and all together. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { test } from "vitest";

import { CodeTries } from "../../../../src/auth/store/code-tries.ts";
import type { Sql } from "../../../../src/lib/sql.ts";

const MINUTE = 60_000;
const MOST = 5;

interface Fixture {
  readonly tries: CodeTries;
  readonly sql: Sql;
  now: number;
}

function withTries<T>(act: (fixture: Fixture) => T): Promise<T> {
  const object = env.SESSIONS.get(env.SESSIONS.newUniqueId());
  return runInDurableObject(object, (_, { storage: { sql } }) => {
    const clock = { now: 1_000_000 };
    return act(Object.assign(clock, { sql, tries: new CodeTries(sql, () => clock.now) }));
  });
}

/** @returns the result of each of so many tries. */
function wrong({ tries }: Fixture, times: number, address = "a"): readonly number[] {
  return Array.from({ length: times }, () => tries.begin(address, MOST));
}

test("an address has so many in a quarter of an hour, and others have their own", ({ expect }) =>
  withTries((fixture) => {
    expect(wrong(fixture, 6)).toEqual([0, 0, 0, 0, 0, 900]);
    expect(wrong(fixture, 1, "b")).toEqual([0]);
    fixture.now += 15 * MINUTE - 1;
    expect(wrong(fixture, 1)).toEqual([1]);
    fixture.now += 1;
    expect(wrong(fixture, 6)).toEqual([0, 0, 0, 0, 0, 900]);
  }));

test("another life of the object counts on", ({ expect }) =>
  withTries((fixture) => {
    wrong(fixture, 5);
    const next = new CodeTries(fixture.sql, () => fixture.now);
    expect(next.begin("a", MOST)).toBe(900);
  }));

test("a right one resets its address, and no other", ({ expect }) =>
  withTries((fixture) => {
    wrong(fixture, 5);
    wrong(fixture, 5, "b");
    fixture.tries.forgive("a");
    expect([wrong(fixture, 1), wrong(fixture, 1, "b")]).toEqual([[0], [900]]);
  }));

test("all together are slowed down after fifty in an hour, and never shut out", ({ expect }) =>
  withTries((fixture) => {
    for (let n = 0; n < 50; n++) expect(wrong(fixture, 1, `address-${n}`)).toEqual([0]);
    // The first one of an address is looked at all the same.
    expect([wrong(fixture, 2, "owner"), wrong(fixture, 2, "other")]).toEqual([
      ...[
        [0, 10],
        [0, 10],
      ],
    ]);
    fixture.now += 9_999;
    expect(wrong(fixture, 1, "owner")).toEqual([1]);
    fixture.now += 1;
    expect([wrong(fixture, 1, "owner"), wrong(fixture, 1, "other")]).toEqual([[0], [10]]);
    fixture.now += 60 * MINUTE;
    expect([wrong(fixture, 1, "c"), wrong(fixture, 1, "d")]).toEqual([[0], [0]]);
  }));

test("counts that no longer matter are swept", ({ expect }) =>
  withTries((fixture) => {
    const rows = () => [...fixture.sql.exec("SELECT key FROM code_tries_1")].length;
    wrong(fixture, 1);
    fixture.now += 60 * MINUTE - 1;
    fixture.tries.sweep();
    expect(rows()).toBe(2);
    fixture.now += 1;
    fixture.tries.sweep();
    expect(rows()).toBe(0);
  }));
