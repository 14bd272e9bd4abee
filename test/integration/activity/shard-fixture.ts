/** A shard of activity on the storage of an object, with a clock of the test's own. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";

import { meteredSql } from "../../../durable-objects/metered-sql.ts";
import { ActivityShard } from "../../../src/activity/activity-shard.ts";
import { type ListedCall, writeCall } from "../../../src/activity/call.ts";
import type { CallRecord } from "../../../src/observability/call-record.ts";
import type { Sql } from "../../../src/lib/sql.ts";

export const NOW = Date.UTC(2026, 10, 23, 12);

export interface ShardWorld {
  /** The shard; `restart` makes another on the same rows. */
  shard: ActivityShard;
  now: number;
  readonly sql: Sql;
  readonly alarms: number[];
  readonly shown: ListedCall[];
  restart(): void;
}

export function inShard(act: (world: ShardWorld) => void): Promise<void> {
  const object = env.ACTIVITIES.get(env.ACTIVITIES.newUniqueId());
  return runInDurableObject(object, (_, { storage }) => {
    const sql = meteredSql(storage.sql);
    const alarms: number[] = [];
    const shown: ListedCall[] = [];
    const make = (): ActivityShard =>
      new ActivityShard({
        sql,
        now: () => world.now,
        scheduleAlarm: (at) => alarms.push(at),
        onCalls: (calls) => shown.push(...calls()),
      });
    const world: ShardWorld = {
      shard: undefined as never,
      now: NOW,
      sql,
      alarms,
      shown,
      restart() {
        world.shard = make();
      },
    };
    world.restart();
    act(world);
  });
}

export type Call = CallRecord & { readonly person: string };

export function call(more: Partial<CallRecord> = {}): Call {
  return {
    ...{ at: NOW, person: "ann", principal: "ann.c", client: "c", clientName: "App" },
    ...{ clientEra: "modern", server: "docs", method: "tools/call", name: "find", effect: "read" },
    ...{ outcome: "ok", ms: 7, requestBytes: 1, resultBytes: 2 },
    ...more,
  } as Call;
}

export function add({ shard }: ShardWorld, ...calls: readonly CallRecord[]): void {
  const latest = Math.max(...calls.map(({ at }) => at));
  shard.add({ lines: calls.map(writeCall), latest, unlisted: [] });
}

export function list(world: ShardWorld, filter = {}, limit = 5000): readonly ListedCall[] {
  return world.shard.calls({ filter, shard: "s", limit }).calls;
}
