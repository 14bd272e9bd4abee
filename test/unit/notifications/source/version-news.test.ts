/** Who is told that there is a newer version: whoever has an older one, now or when it asks. */

import { afterEach, beforeEach, test, vi } from "vitest";

import type { News, Topic } from "../../../../src/catalog/feeds.ts";
import { versionTopicOf } from "../../../../src/catalog/topics.ts";
import { VersionNews } from "../../../../src/notifications/source/version-news.ts";
import { type SqlFixture, withSql } from "../../lib/sql-fixture.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const [ONE, TWO] = [versionTopicOf(1), versionTopicOf(2)];

/** One life of a source of news: what is stored outlasts it. */
function life({ sql, clock }: SqlFixture, version: number, isReached = true) {
  const heard: (readonly [branch: number, topics: readonly Topic[]])[] = [];
  const scene = { heard, version };
  const news = new VersionNews({
    key: "published/ann",
    sql,
    isOld: (known) => known < scene.version,
    publish: (branch, { topics }: News) => {
      heard.push([branch, topics]);
      return isReached ? Promise.resolve() : new Promise(() => undefined);
    },
    alarm: { noLaterThan: () => undefined, withdraw: () => undefined },
    now: () => clock.now,
  });
  return Object.assign(scene, { news });
}

test("whoever asks with an old version is told at once, and others when there is a new one", ({
  expect,
}) =>
  withSql(async (fixture) => {
    const scene = life(fixture, 2);
    expect(scene.news.watch(1, { add: [ONE, "uri:x"], remove: [] })).toEqual([ONE]);
    scene.news.watch(2, { add: ["tools", TWO], remove: [] });
    await vi.runAllTimersAsync();
    expect(scene.heard).toEqual([[1, [ONE]]]);
    scene.version = 3;
    scene.heard.length = 0;
    scene.news.grown();
    await vi.runAllTimersAsync();
    expect(new Map(scene.heard)).toEqual(
      new Map([
        [1, [ONE]],
        [2, ["tools", TWO]],
      ]),
    );
  }));

test("a later life tells those whom an earlier one could not, and of no lists that are the same", ({
  expect,
}) =>
  withSql(async (fixture) => {
    const first = life(fixture, 1, false);
    first.news.watch(1, { add: ["tools", ONE], remove: [] });
    const second = life(fixture, 2);
    await vi.runAllTimersAsync();
    expect(second.heard).toEqual([[1, [ONE]]]);
  }));
