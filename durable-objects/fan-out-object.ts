/**
 * One branch of the fan-out: carries the news of all servers to its share of the subscribers. The object
 * wires the branch to its storage, alarm and sockets, to the feeds, and to the sessions that it calls.
 */

import { DurableObject } from "cloudflare:workers";

import { readOwner } from "../src/accounts/owner-name.ts";
import { needsVault } from "../src/accounts/settings.ts";
import type { Config } from "../src/config/config.ts";
import type { Recipients } from "../src/notifications/fan-out/deliveries.ts";
import { Branch, BRANCHES, branchName } from "../src/notifications/fan-out/branch.ts";
import type { SavedListener } from "../src/notifications/fan-out/listeners.ts";
import { listenerOf } from "../src/notifications/fan-out/news-socket.ts";
import type { Interests, News, NewsSources } from "../src/catalog/feeds.ts";
import { count } from "../src/observability/costs.ts";
import { defaultLimits } from "../src/policy/limits.ts";
import {
  publisherOfKey,
  readPublishedKey,
  SERVERS_KEY,
  slugOfKey,
  vaultOfKey,
} from "../src/upstream/server-key.ts";
import { AlarmClock } from "./alarm-clock.ts";
import { connectorAt } from "./connectors.ts";
import { FollowedConfig } from "./followed-config.ts";
import { meteredSql } from "./metered-sql.ts";
import { called, feedsIn, registryIn } from "./ports.ts";
import { vaultNamed } from "./vaults.ts";

export class FanOutObject extends DurableObject<Env> {
  readonly #branch: Branch<WebSocket>;
  readonly #clock: AlarmClock;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    count("objectsConstructed");
    const followed = new FollowedConfig(ctx, env);
    const clock = new AlarmClock(ctx);
    this.#clock = clock;
    this.#branch = new Branch({
      number: numberOf(env.FAN_OUT, ctx.id),
      sql: meteredSql(ctx.storage.sql),
      feeds: sourcesIn(env),
      recipients: recipientsIn(env),
      found: ctx.getWebSockets().map((socket) => ({ socket, saved: savedListenerOf(socket) })),
      knows: (key) => followed.config !== undefined && knows(followed.config, key),
      learn: () => followed.renew(),
      limits: followed.config?.limits ?? defaultLimits(),
      now: () => Date.now(),
      scheduleAlarm: (at) => clock.noLaterThan(at),
      keep: (work) => ctx.waitUntil(work),
    });
    followed.begin(() => undefined);
  }

  subscribe(session: string, interests: Interests, life?: number): Promise<Interests> {
    return this.#branch.subscribe(session, interests, life);
  }

  replace(
    session: string,
    interests: Interests,
    life?: number,
    pending?: Interests,
  ): Promise<Interests> {
    return this.#branch.replace(session, interests, life, pending);
  }

  unsubscribe(session: string, interests?: Interests, life?: number): void {
    this.#branch.unsubscribe(session, interests, life);
  }

  publish(news: News): void {
    this.#branch.publish(news);
  }

  /** Called by the feed of a server, which is about to delete what it has promised. @param key of the server. */
  withdrawn(key: string): void {
    this.#branch.withdrawn(key);
  }

  /** Opens a listener's socket; its first message names its interests. */
  override fetch(request: Request): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    this.#branch.listeners.open(server, listenerOf(request));
    return new Response(null, { status: 101, webSocket: client });
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    count("webSocketMessagesIn");
    if (typeof message === "string") await this.#branch.listeners.message(socket, message);
  }

  override webSocketClose(socket: WebSocket): void {
    this.#branch.listeners.closed(socket);
  }

  override webSocketError(socket: WebSocket): void {
    this.#branch.listeners.closed(socket);
  }

  override alarm(): Promise<void> {
    this.#clock.fired();
    return this.#branch.wake();
  }
}

/** @returns the feeds of servers, the vaults, what people publish, and the registry. */
function sourcesIn(env: Env): NewsSources {
  const feeds = feedsIn(env);
  return {
    of(key) {
      if (key === SERVERS_KEY) return registryIn(env);
      const owner = vaultOfKey(key);
      const publisher = publisherOfKey(key);
      if (publisher !== undefined) return connectorAt(env, publisher);
      return owner === undefined ? feeds.of(key) : vaultNamed(env, owner);
    },
  };
}

function knows({ servers, isPublishingOn }: Config, key: string): boolean {
  if (key === SERVERS_KEY) return true;
  const isPublished = publisherOfKey(key) !== undefined || readPublishedKey(key) !== undefined;
  if (isPublished) return isPublishingOn;
  const owner = vaultOfKey(key);
  if (owner === undefined) return servers.has(slugOfKey(key));
  if (readOwner(owner) === undefined) return false;
  return [...servers.values()].some(({ auth }) => needsVault(auth));
}

/** Finds the branch by its id, since an object does not know its name. */
function numberOf(namespace: Env["FAN_OUT"], id: DurableObjectId): number {
  for (let branch = 0; branch < BRANCHES; branch += 1) {
    if (namespace.idFromName(branchName(branch)).equals(id)) return branch;
  }
  throw new Error("There is no such branch of the fan-out");
}

function savedListenerOf(socket: WebSocket): SavedListener | undefined {
  return (socket.deserializeAttachment() as SavedListener | null) ?? undefined;
}

/** The legacy sessions that a branch delivers news to. */
function recipientsIn({ SESSIONS }: Env): Recipients {
  return {
    deliver: (session, news) => called(SESSIONS.get(SESSIONS.idFromString(session))).deliver(news),
  };
}
