/** The calls of everybody, or of one person, from the objects that keep them. */

import type { CallList, CallQuery } from "./activity-shard.ts";
import { byAge, type CallFilter, type CallPlace } from "./call.ts";
import { activityShard, allActivityShards } from "./shards.ts";
import { SHOWN_MINUTES, type UnlistedCalls } from "./unlisted-calls.ts";
import {
  addCounts,
  type UsageFilter,
  type UsageGroup,
  type UsageKey,
  type UsageRow,
  type UsageSum,
} from "./usage.ts";
import { type Watcher, watchRequest } from "./watchers.ts";

/** One object, for one call. */
export interface ActivityStub {
  calls(query: CallQuery): Promise<CallList>;
  usage(
    groups: readonly UsageGroup[],
    filter: UsageFilter,
  ): Promise<Partial<Record<UsageGroup, readonly UsageSum[]>>>;
  usageRows(
    filter: UsageFilter,
    after: UsageKey | undefined,
    limit: number,
  ): Promise<readonly UsageRow[]>;
  lastCalled(): Promise<Readonly<Record<string, number>>>;
  forget(person: string): Promise<void>;
  fetch(request: Request): Promise<Response>;
}

export type UsageSums = Readonly<Record<UsageGroup, readonly UsageSum[]>>;

const ROWS_AT_ONCE = 1000;

export class Activities {
  readonly #at: (shard: string) => ActivityStub;

  /** @param at the object of a name, for one call. */
  constructor(at: (shard: string) => ActivityStub) {
    this.#at = at;
  }

  /** Newest first. */
  async calls(filter: CallFilter, limit: number, before?: CallPlace): Promise<CallList> {
    const lists = await this.#each(filter.person, (stub, shard) =>
      stub.calls({ filter, shard, limit, ...(before && { before }) }),
    );
    const calls = lists.flatMap((list) => list.calls).toSorted(byAge);
    return {
      calls: calls.slice(0, limit),
      hasMore: calls.length > limit || lists.some(({ hasMore }) => hasMore),
      unlisted: byMinute(lists.flatMap(({ unlisted }) => unlisted)),
    };
  }

  async usage(groups: readonly UsageGroup[], filter: UsageFilter): Promise<UsageSums> {
    const all = await this.#each(filter.person, (stub) => stub.usage(groups, filter));
    const sums = (group: UsageGroup): readonly UsageSum[] =>
      added(all.flatMap((sum) => sum[group] ?? []));
    return { day: sums("day"), server: sums("server"), tool: sums("tool"), person: sums("person") };
  }

  /** Every row that is counted, in the order of their keys; those of one key follow one another. */
  async *usageRows(filter: UsageFilter): AsyncGenerator<UsageRow, void, void> {
    const all = shardsOf(filter.person).map((shard) => this.#rowsOf(shard, filter));
    const heads = new Map<AsyncGenerator<UsageRow, void, void>, UsageRow>();
    const advance = async (rows: AsyncGenerator<UsageRow, void, void>): Promise<void> => {
      const { done, value } = await rows.next();
      if (done === true) heads.delete(rows);
      else heads.set(rows, value);
    };
    await Promise.all(all.map(advance));
    while (heads.size > 0) {
      const [rows, row] = [...heads].reduce((one, other) =>
        isBefore(other[1], one[1]) ? other : one,
      );
      yield row;
      await advance(rows);
    }
  }

  async *#rowsOf(shard: string, filter: UsageFilter): AsyncGenerator<UsageRow, void, void> {
    let after: UsageKey | undefined;
    for (;;) {
      const rows = await this.#at(shard).usageRows(filter, after, ROWS_AT_ONCE);
      yield* rows;
      after = rows.at(-1);
      if (rows.length < ROWS_AT_ONCE) return;
    }
  }

  /** @returns when each server was called last, by slug, in milliseconds since 1970: for `KEPT_DAYS`. */
  async lastCalled(): Promise<ReadonlyMap<string, number>> {
    const all = await this.#each(undefined, (stub) => stub.lastCalled());
    const latest = new Map<string, number>();
    for (const [slug, at] of all.flatMap((times) => Object.entries(times))) {
      latest.set(slug, Math.max(at, latest.get(slug) ?? 0));
    }
    return latest;
  }

  /** Deletes all that there is of a person. */
  async forget(person: string): Promise<void> {
    await this.#at(activityShard(person)).forget(person);
  }

  /**
   * Opens a socket for each object whose calls the watcher may see. Each message on one is a JSON list of
   * calls, whose ids lack the object's name.
   *
   * @returns by the names of the objects; `undefined` when too many look on.
   */
  async watch(watcher: Watcher): Promise<ReadonlyMap<string, WebSocket> | undefined> {
    const opened = await Promise.allSettled(
      shardsOf(watcher.filter.person).map(async (shard) => {
        const { webSocket } = await this.#at(shard).fetch(watchRequest(watcher));
        if (webSocket === null) throw new Error("Too many look on");
        return [shard, webSocket] as const;
      }),
    );
    const sockets = opened.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    if (sockets.length === opened.length) return new Map(sockets);
    for (const [, socket] of sockets) {
      socket.accept();
      socket.close();
    }
    return undefined;
  }

  #each<T>(
    person: string | undefined,
    ask: (stub: ActivityStub, shard: string) => Promise<T>,
  ): Promise<readonly T[]> {
    return Promise.all(shardsOf(person).map((shard) => ask(this.#at(shard), shard)));
  }
}

function shardsOf(person: string | undefined): readonly string[] {
  return person === undefined ? allActivityShards() : [activityShard(person)];
}

/** The order of the rows of one object. */
function isBefore(one: UsageKey, other: UsageKey): boolean {
  const keys = ["day", "server", "method", "tool", "person"] as const;
  const first = keys.find((key) => one[key] !== other[key]);
  return first !== undefined && one[first] < other[first];
}

/** The newest minutes: of an earlier one, an object may have kept to itself that it has lost calls. */
function byMinute(unlisted: readonly UnlistedCalls[]): readonly UnlistedCalls[] {
  const minutes = Map.groupBy(unlisted, ({ minute }) => minute);
  const sums = Array.from(minutes, ([minute, each]) => ({
    minute,
    person: "",
    calls: each.reduce((sum, { calls }) => sum + calls, 0),
  }));
  return sums.toSorted((a, b) => b.minute - a.minute).slice(0, SHOWN_MINUTES);
}

/** Adds up sums of equal keys; the largest first. */
function added(sums: readonly UsageSum[]): readonly UsageSum[] {
  const byKey = Map.groupBy(sums, ({ key }) => JSON.stringify(Object.values(key)));
  return [...byKey.values()]
    .flatMap(([first, ...rest]) => (first === undefined ? [] : [rest.reduce(plus, first)]))
    .toSorted((a, b) => b.calls - a.calls);
}

function plus(one: UsageSum, other: UsageSum): UsageSum {
  return { key: one.key, ...addCounts(one, other) };
}
