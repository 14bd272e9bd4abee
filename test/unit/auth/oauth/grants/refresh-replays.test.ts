/** The recent answers to refreshes, for repeated requests. */

import { test, vi } from "vitest";

import { tokenHash } from "../../../../../src/auth/oauth/grants/grant-record.ts";
import { RefreshReplays } from "../../../../../src/auth/oauth/grants/refresh-replays.ts";

const answer = (n: number): string =>
  JSON.stringify({ access_token: `a${n}`, refresh_token: `r${n}` });

test("the same request gets the same answer, and another one none", async ({ expect }) => {
  const replays = new RefreshReplays(30_000);
  const first = await tokenHash("r0");
  await replays.keep(first, "rest", answer(1));
  expect(replays.find(first, "rest")?.body).toBe(answer(1));
  expect(replays.find(first, "other")).toBeUndefined();
  expect(replays.find(await tokenHash("r1"), "rest")).toBeUndefined();
});

test("a late request gets the newest tokens", async ({ expect }) => {
  const replays = new RefreshReplays(30_000);
  for (const n of [0, 1, 2]) await replays.keep(await tokenHash(`r${n}`), "rest", answer(n + 1));
  for (const n of [0, 1, 2]) {
    expect(replays.find(await tokenHash(`r${n}`), "rest")?.body).toBe(answer(3));
  }
  // Another client's refresh is not part of it.
  await replays.keep(await tokenHash("r3"), "other", answer(4));
  expect(replays.find(await tokenHash("r0"), "rest")?.body).toBe(answer(3));
});

test("for as long as configured, and not at all for zero", async ({ expect }) => {
  const hash = await tokenHash("r0");
  const [replays, none] = [new RefreshReplays(30_000), new RefreshReplays(0)];
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    for (const each of [replays, none]) await each.keep(hash, "rest", answer(1));
    vi.setSystemTime(Date.now() + 29_999);
    expect([replays.find(hash, "rest")?.body, none.find(hash, "rest")]).toEqual([
      ...[answer(1), undefined],
    ]);
    vi.setSystemTime(Date.now() + 1);
    expect(replays.find(hash, "rest")).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});
