/**
 * The calls of a share of people (`src/activity`). The object wires them to its storage, its alarm, and the
 * sockets of those who look on while calls are made.
 */

import { DurableObject } from "cloudflare:workers";

import {
  ActivityShard,
  type CallBatch,
  type CallList,
  type CallQuery,
} from "../src/activity/activity-shard.ts";
import type {
  UsageFilter,
  UsageGroup,
  UsageKey,
  UsageRow,
  UsageSum,
} from "../src/activity/usage.ts";
import { Watchers } from "../src/activity/watchers.ts";
import { count } from "../src/observability/costs.ts";
import { AlarmClock } from "./alarm-clock.ts";
import { meteredSql } from "./metered-sql.ts";

export class ActivityObject extends DurableObject<Env> {
  readonly #clock: AlarmClock;
  readonly #shard: ActivityShard;
  readonly #watchers: Watchers<WebSocket>;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    count("objectsConstructed");
    const clock = new AlarmClock(ctx);
    this.#clock = clock;
    this.#watchers = new Watchers({
      open: () => ctx.getWebSockets().filter(({ readyState }) => readyState === WebSocket.OPEN),
      now: () => Date.now(),
      onSent: () => count("webSocketMessagesOut"),
    });
    this.#shard = new ActivityShard({
      sql: meteredSql(ctx.storage.sql),
      now: () => Date.now(),
      scheduleAlarm: (at) => clock.noLaterThan(at),
      onCalls: (calls) => this.#watchers.show(calls),
    });
  }

  add(batch: CallBatch): void {
    this.#shard.add(batch);
  }

  calls(query: CallQuery): CallList {
    return this.#shard.calls(query);
  }

  usage(
    groups: readonly UsageGroup[],
    filter: UsageFilter,
  ): Partial<Record<UsageGroup, readonly UsageSum[]>> {
    return this.#shard.usage(groups, filter);
  }

  usageRows(filter: UsageFilter, after: UsageKey | undefined, limit: number): readonly UsageRow[] {
    return this.#shard.usageRows(filter, after, limit);
  }

  lastCalled(): Readonly<Record<string, number>> {
    return this.#shard.lastCalled();
  }

  forget(person: string): void {
    this.#shard.forget(person);
  }

  /** Opens the socket of somebody who looks on; 429 when too many do. */
  override fetch(request: Request): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    const watcher = this.#watchers.admit(request);
    if (watcher === undefined) return new Response(null, { status: 429 });
    this.ctx.acceptWebSocket(server);
    server.serializeAttachment(watcher);
    return new Response(null, { status: 101, webSocket: client });
  }

  override webSocketClose(socket: WebSocket): void {
    socket.close();
  }

  override webSocketError(socket: WebSocket): void {
    socket.close();
  }

  override alarm(): void {
    this.#clock.fired();
    this.#shard.wake();
  }
}
