/** What a vault announces: to all that their lists are others, and to those that asked that an account is connected. */

import { afterEach, beforeEach, test, vi } from "vitest";

import { LIST_TOPICS, type News, type Topic } from "../../../../src/catalog/feeds.ts";
import { askTopicOf } from "../../../../src/catalog/topics.ts";
import { VaultNews } from "../../../../src/notifications/source/vault-news.ts";
import { type SqlFixture, withSql } from "../../lib/sql-fixture.ts";

// A branch that does not answer is waited for, which must not go on in other tests.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const NOTION = askTopicOf({ slug: "notion", elicitationId: "one" });
const LINEAR = askTopicOf({ slug: "linear", elicitationId: "two" });

interface Heard {
  readonly branch: number;
  readonly topics: readonly Topic[];
}

/** One life of a vault's news: what is stored outlasts it. */
function life({ sql, clock }: SqlFixture, usable: readonly string[] = []) {
  const heard: Heard[] = [];
  const alarms: number[] = [];
  const branches = { reached: Promise.resolve() };
  const news = new VaultNews({
    key: "accounts/person alice",
    sql,
    publish: async (branch, { topics }: News) => {
      heard.push({ branch, topics });
      await branches.reached;
    },
    isUsable: (slug) => usable.includes(slug),
    alarm: {
      noLaterThan: (at) => void alarms.push(at),
      withdraw: (at) => void alarms.splice(0, alarms.length, ...alarms.filter((a) => a !== at)),
    },
    now: () => clock.now,
  });
  return { news, heard, alarms, branches };
}

test("what no branch has taken when a life ends is announced by the next one", ({ expect }) =>
  withSql(async (fixture) => {
    const first = life(fixture);
    first.news.watch(1, { add: ["tools", NOTION], remove: [] });
    first.news.watch(2, { add: ["tools"], remove: [] });
    const { promise: never } = Promise.withResolvers<void>();
    first.branches.reached = never;
    first.news.changed("notion");
    // It is woken if it ends now.
    expect(first.alarms).not.toEqual([]);

    const second = life(fixture);
    await Promise.resolve();
    expect(second.heard).toEqual([
      { branch: 1, topics: [NOTION, "tools"] },
      { branch: 2, topics: ["tools"] },
    ]);
    await vi.waitFor(() => expect(second.alarms).toEqual([]));

    const third = life(fixture);
    expect([third.heard, third.alarms]).toEqual([[], []]);
  }));

test("what is announced while the same is under way is announced again", ({ expect }) =>
  withSql(async (fixture) => {
    const first = life(fixture);
    first.news.watch(1, { add: ["tools"], remove: [] });
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    first.branches.reached = reached;
    first.news.changed();
    first.news.changed();
    first.branches.reached = new Promise(() => undefined);
    reach();
    await reached;
    await Promise.resolve();
    const { heard } = life(fixture);
    expect(heard).toEqual([{ branch: 1, topics: ["tools"] }]);
  }));

test("what is announced while the same is under way is stored until it is taken, though the answer was lost and it is repeated", ({
  expect,
}) =>
  withSql(async (fixture) => {
    const first = life(fixture);
    first.news.watch(1, { add: ["tools"], remove: [] });
    const { promise: reached, reject: lose } = Promise.withResolvers<void>();
    first.branches.reached = reached;
    first.news.changed();
    first.news.changed();
    const { promise: repeated, resolve: answer } = Promise.withResolvers<void>();
    first.branches.reached = repeated;
    lose(new Error("The branch has it, and its answer is lost"));
    await vi.advanceTimersByTimeAsync(0);
    fixture.clock.now += 1000;
    await vi.advanceTimersByTimeAsync(1000);
    expect(first.heard).toHaveLength(2);
    first.branches.reached = new Promise(() => undefined);
    answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(first.heard).toHaveLength(3);
    expect(first.alarms).not.toEqual([]);
    expect(life(fixture).heard).toEqual([{ branch: 1, topics: ["tools"] }]);
  }));

test("whoever has gone is owed nothing by the next life", ({ expect }) =>
  withSql((fixture) => {
    const first = life(fixture);
    first.news.watch(1, { add: ["tools"], remove: [] });
    first.branches.reached = new Promise(() => undefined);
    first.news.changed();
    first.news.watch(1, { add: [], remove: ["tools"] });
    expect(life(fixture).heard).toEqual([]);
  }));

test("U55 that an account is connected is announced to those that asked for it, in another life too", ({
  expect,
}) =>
  withSql((fixture) => {
    const first = life(fixture);
    expect(first.news.watch(1, { add: [NOTION], remove: [] })).toEqual([NOTION]);
    expect(first.news.watch(2, { add: [LINEAR, "tools"], remove: [] })).toEqual([LINEAR, "tools"]);
    expect(first.heard).toEqual([]);

    const { news, heard } = life(fixture);
    news.changed("notion");
    expect(heard).toEqual([
      { branch: 2, topics: ["tools"] },
      { branch: 1, topics: [NOTION] },
    ]);
  }));

test("that an account has ended is announced to nobody as an answer", ({ expect }) =>
  withSql((fixture) => {
    const { news, heard } = life(fixture);
    news.watch(1, { add: [NOTION, ...LIST_TOPICS], remove: [] });
    news.changed();
    expect(heard).toEqual([{ branch: 1, topics: LIST_TOPICS }]);
  }));

test("U55 whoever asks when the account is there already hears it at once", ({ expect }) =>
  withSql((fixture) => {
    const { news, heard } = life(fixture, ["notion"]);
    news.watch(1, { add: [NOTION, LINEAR, "tools"], remove: [] });
    expect(heard).toEqual([{ branch: 1, topics: [NOTION] }]);
  }));

test("whoever has stopped asking hears nothing", ({ expect }) =>
  withSql((fixture) => {
    const { news, heard } = life(fixture);
    news.watch(1, { add: [NOTION], remove: [] });
    news.watch(1, { add: [], remove: [NOTION] });
    news.changed("notion");
    expect(heard).toEqual([]);
  }));
