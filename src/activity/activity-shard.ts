/**
 * What one object keeps of the calls of its share of people: the last calls for lists, and counts for 90
 * days. All state is in its rows, since a life of the object can end at any time.
 */

import type { Sql } from "../lib/sql.ts";
import {
  byAge,
  type CallFilter,
  type CallPlace,
  type ListedCall,
  matches,
  readCall,
} from "./call.ts";
import { ForgottenPeople } from "./forgotten-people.ts";
import { RecentCalls } from "./recent-calls.ts";
import { UnlistedCallRows, type UnlistedCalls } from "./unlisted-calls.ts";
import {
  Usage,
  type UsageFilter,
  type UsageGroup,
  type UsageKey,
  type UsageRow,
  type UsageSum,
} from "./usage.ts";

/** The calls that an isolate sends together. */
export interface CallBatch {
  /** Of `writeCall`. */
  readonly lines: readonly string[];
  /** When the last of them ended, in milliseconds since 1970. */
  readonly latest: number;
  readonly unlisted: readonly UnlistedCalls[];
}

export interface CallQuery {
  readonly filter: CallFilter;
  /** The name of this object, with which the ids of its calls begin. */
  readonly shard: string;
  /** The list goes on after this place. */
  readonly before?: CallPlace;
  readonly limit: number;
}

export interface CallList {
  /** Newest first. */
  readonly calls: readonly ListedCall[];
  readonly hasMore: boolean;
  readonly unlisted: readonly UnlistedCalls[];
}

export interface ActivityShardParts {
  readonly sql: Sql;
  readonly now: () => number;
  /** Has `wake` called at this time, in milliseconds since 1970, or before. */
  readonly scheduleAlarm: (at: number) => void;
  /** Told of the calls of a batch, unless nobody looks. */
  readonly onCalls: (calls: () => readonly ListedCall[]) => void;
}

const HOUR_MS = 3_600_000;

export class ActivityShard {
  readonly #parts: ActivityShardParts;
  readonly #recent: RecentCalls;
  readonly #usage: Usage;
  readonly #unlisted: UnlistedCallRows;
  readonly #forgotten: ForgottenPeople;

  constructor(parts: ActivityShardParts) {
    this.#parts = parts;
    const { sql, now } = parts;
    this.#recent = new RecentCalls(sql, now);
    this.#usage = new Usage(sql, now);
    this.#unlisted = new UnlistedCallRows(sql, now);
    this.#forgotten = new ForgottenPeople(sql, now);
  }

  add({ lines: sent, latest, unlisted }: CallBatch): void {
    const lines = this.#forgotten.isEmpty ? sent : sent.filter((line) => !this.#isForgotten(line));
    this.#unlisted.add(
      unlisted.filter(({ person, minute }) => !this.#forgotten.has(person, minute)),
    );
    this.#parts.scheduleAlarm(this.#parts.now() + HOUR_MS);
    if (lines.length === 0) return;
    const { n, count } = this.#recent.append(lines, latest);
    if (this.#recent.isOverfull) {
      this.#count();
      this.#recent.cut();
    }
    this.#parts.onCalls(() =>
      lines.flatMap((line, index) => {
        const call = readCall(line);
        return call === undefined ? [] : [{ ...call, id: `${n}.${count + index}` }];
      }),
    );
  }

  #isForgotten(line: string): boolean {
    const { person = "", at = 0 } = readCall(line) ?? {};
    return this.#forgotten.has(person, at);
  }

  calls({ filter, shard, before, limit }: CallQuery): CallList {
    const found = this.#recent
      .all()
      .filter((call) => matches(call, filter))
      .map((call) => ({ ...call, id: `${shard}.${call.id}` }))
      .filter((call) => before === undefined || byAge(before, call) < 0)
      .toSorted(byAge);
    return {
      calls: found.slice(0, limit),
      hasMore: found.length > limit,
      unlisted: this.#unlisted.list(filter.person),
    };
  }

  usage(
    groups: readonly UsageGroup[],
    filter: UsageFilter,
  ): Partial<Record<UsageGroup, readonly UsageSum[]>> {
    this.#count();
    return Object.fromEntries(groups.map((group) => [group, this.#usage.sums(group, filter)]));
  }

  usageRows(filter: UsageFilter, after: UsageKey | undefined, limit: number): readonly UsageRow[] {
    this.#count();
    return this.#usage.list(filter, after, limit);
  }

  lastCalled(): Readonly<Record<string, number>> {
    this.#count();
    return this.#usage.lastCalled();
  }

  /** Deletes all that there is of a person. */
  forget(person: string): void {
    this.#forgotten.add(person);
    this.#recent.forget(person);
    this.#usage.forget(person);
    this.#unlisted.forget(person);
    this.#parts.scheduleAlarm(this.#parts.now() + HOUR_MS);
  }

  /** Counts what was not, and deletes what has expired. An object that has nothing left sleeps for ever. */
  wake(): void {
    this.#count();
    this.#recent.cut();
    for (const part of [this.#usage, this.#unlisted, this.#forgotten]) part.sweep();
    const parts = [this.#recent, this.#usage, this.#unlisted, this.#forgotten];
    const times = parts.map((part) => part.expiresAt()).filter((at) => at !== undefined);
    if (times.length > 0) {
      // Not sooner, should a clock be wrong.
      this.#parts.scheduleAlarm(Math.max(Math.min(...times), this.#parts.now() + HOUR_MS));
    }
  }

  #count(): void {
    if (this.#recent.hasUncounted) this.#usage.add(this.#recent.takeUncounted());
  }
}
