/** The recent answers to refreshes, for repeated requests. */

import { test } from "vitest";

import { tokenHash } from "../../../../../src/auth/oauth/grants/grant-record.ts";
import {
  RefreshReplays,
  type RefreshToken,
} from "../../../../../src/auth/oauth/grants/refresh-replays.ts";
import { withSql } from "../../../lib/sql-fixture.ts";

const KEPT_MS = 30_000;

const answer = (n: number): string =>
  JSON.stringify({ access_token: `a${n}`, refresh_token: `r${n}` });

async function refreshToken(n: number): Promise<RefreshToken> {
  return { token: `r${n}`, hash: await tokenHash(`r${n}`) };
}

test("the same request gets the same answer, and another one only the token", async ({
  expect,
}) => {
  await withSql(async ({ sql }) => {
    const replays = new RefreshReplays(sql);
    const [first, second] = [await refreshToken(0), await refreshToken(1)];
    await replays.keep(first, "rest", answer(1), KEPT_MS);
    const accessToken = await tokenHash("a1");
    const kept = { newest: second, answer: { body: answer(1), accessToken } };
    expect(await replays.find(first, "rest")).toEqual(kept);
    expect(await new RefreshReplays(sql).find(first, "rest")).toEqual(kept);
    expect(await replays.find(first, "other")).toEqual({ newest: second });
    expect(await replays.find(second, "rest")).toBeUndefined();
  });
});

test("a late request gets the newest tokens", async ({ expect }) => {
  await withSql(async ({ sql }) => {
    const replays = new RefreshReplays(sql);
    const found = async (n: number): Promise<unknown> =>
      (await replays.find(await refreshToken(n), "rest"))?.answer?.body;
    for (const n of [0, 1, 2]) {
      await replays.keep(await refreshToken(n), "rest", answer(n + 1), KEPT_MS);
    }
    expect(await Promise.all([0, 1, 2].map(found))).toEqual([answer(3), answer(3), answer(3)]);
    // The answer of a request with other parameters is not this one's.
    await replays.keep(await refreshToken(3), "other", answer(4), KEPT_MS);
    expect(await found(0)).toBeUndefined();
    const replay = await replays.find(await refreshToken(0), "rest");
    expect(replay?.newest).toEqual(await refreshToken(4));
  });
});

test("for as long as configured, and not at all for zero", async ({ expect }) => {
  await withSql(async ({ sql, clock, rowsIn }) => {
    const replays = new RefreshReplays(sql, () => clock.now);
    const [first, other] = [await refreshToken(0), await refreshToken(5)];
    await replays.keep(first, "rest", answer(1), KEPT_MS);
    await replays.keep(other, "rest", answer(6), 0);
    clock.now += KEPT_MS - 1;
    // Presented again with other parameters, which opens no further window.
    await replays.keepBeside(first, "other", answer(1));
    expect((await replays.find(first, "rest"))?.answer?.body).toBe(answer(1));
    expect((await replays.find(first, "other"))?.answer?.body).toBe(answer(1));
    expect(await replays.find(other, "rest")).toBeUndefined();
    clock.now += 1;
    expect(await replays.find(first, "rest")).toBeUndefined();
    expect(await replays.find(first, "other")).toBeUndefined();
    expect(rowsIn("refresh_answers_1")).toBe(3);
    replays.sweep();
    expect(rowsIn("refresh_answers_1")).toBe(0);
  });
});

test("without a sweep, a program that refreshes in a loop leaves those of one window", async ({
  expect,
}) => {
  await withSql(async ({ sql, clock, rowsIn }) => {
    const replays = new RefreshReplays(sql, () => clock.now);
    for (let n = 0; n < 40; n++) {
      await replays.keep(await refreshToken(n), "rest", answer(n + 1), KEPT_MS);
      clock.now += 3000;
    }
    expect(rowsIn("refresh_answers_1")).toBe(10);
  });
});

test("an answer is opened by the token that was presented, and by nothing that is stored", async ({
  expect,
}) => {
  await withSql(async ({ sql }) => {
    const replays = new RefreshReplays(sql);
    const [first, other] = [await refreshToken(0), await refreshToken(1)];
    await replays.keep(first, "rest", answer(1), KEPT_MS);
    const rows = JSON.stringify([...sql.exec("SELECT * FROM refresh_answers_1")]);
    expect(rows).toContain(first.hash);
    for (const secret of ["r0", "r1", "a1", other.hash]) expect(rows).not.toContain(`"${secret}"`);
    // With the hash in the row in place of the token.
    const guess = { token: first.hash, hash: first.hash };
    await expect(replays.find(guess, "rest")).rejects.toThrow("does not open");
  });
});
