/**
 * The holder of one legacy session: wires the session to its storage, its alarm and its sockets,
 * and its upstream to the configuration. What a session is, its id says; so an object that was
 * emptied, or never was, serves it as well as one that remembers.
 */

import { DurableObject } from "cloudflare:workers";

import { introduce } from "../src/bridge/introduce.ts";
import { LegacyRelay } from "../src/bridge/legacy-to-legacy.ts";
import { loadConfig } from "../src/config.ts";
import { EventLog } from "../src/event-log/event-log.ts";
import { pickTarget } from "../src/federation/pick-target.ts";
import { TokenBucket } from "../src/lib/token-bucket.ts";
import { count } from "../src/observability/costs.ts";
import { defaultLimits, type Limits } from "../src/policy/limits.ts";
import { ErrorCode } from "../src/protocol/error-codes.ts";
import type { Parsed } from "../src/protocol/json-rpc.ts";
import type { OpenChannel } from "../src/sessions/core.ts";
import type { Watched } from "../src/sessions/dispatch.ts";
import type { Feed } from "../src/sessions/feed.ts";
import { CLIENT_GONE_CODE } from "../src/sessions/frame.ts";
import { type Outcome, refuse } from "../src/sessions/outcome.ts";
import type { SessionClaims } from "../src/sessions/session-id.ts";
import { Session } from "../src/sessions/session.ts";
import type { UpstreamTarget } from "../src/upstream/target.ts";
import { AlarmClock } from "./alarm-clock.ts";
import { LineChannel } from "./line-channel.ts";
import { meteredSql } from "./metered-sql.ts";
import { logLimits, sessionLimits } from "./session-limits.ts";
import { SessionStore, type StoredSession } from "./session-store.ts";
import { attachmentOf, SocketChannel } from "./socket-channel.ts";
import { readStreamRequest } from "./stream-request.ts";

const UNKNOWN: Outcome = { kind: "unknown" };
const MARK_LENGTH = 6;
/** A call that runs this long is kept by an alarm: an object that waits may be let go. */
const ALARM_KEPT_MS = 30_000;
/** The reader is to come back: this life of the object does not know the session. */
const COME_BACK_CODE = 1012;

export class SessionObject extends DurableObject<Env> {
  readonly #limits: Limits;
  readonly #servers: ReadonlyMap<string, UpstreamTarget>;
  readonly #store: SessionStore;
  readonly #clock: AlarmClock;
  readonly #log: EventLog;
  readonly #streamOpens: TokenBucket;
  readonly #sockets = new Map<
    WebSocket,
    { readonly channel: SocketChannel; readonly feed: Feed }
  >();
  readonly #readers = new Map<string, LineChannel>();
  #keeping: number | null = null;
  /** A reader that was there before this life of the object is on its way back. */
  #desertedAt = Date.now();
  #stored: StoredSession | undefined;
  #isSaved: boolean;
  #deletedUntil: number | undefined;
  #session: Session | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    count("objectsConstructed");
    const loaded = loadConfig(env);
    this.#limits = loaded.ok ? loaded.config.limits : defaultLimits();
    this.#servers = loaded.ok ? loaded.config.servers : new Map();
    this.#store = new SessionStore(ctx.storage);
    this.#clock = new AlarmClock(ctx.storage, (promise) => ctx.waitUntil(promise));
    this.#log = new EventLog({
      sql: meteredSql(ctx.storage.sql),
      limits: logLimits(this.#limits),
      mark: ctx.id.toString().slice(-MARK_LENGTH),
      random: () => crypto.randomUUID().slice(0, MARK_LENGTH),
      now: Date.now,
      onWrite: () => this.#logged(),
    });
    this.#streamOpens = new TokenBucket(this.#limits.streamOpensPerMinute);
    this.#deletedUntil = this.#store.tombstone();
    this.#stored = this.#store.load();
    this.#isSaved = this.#stored !== undefined;
    if (this.#stored !== undefined) this.#session = this.#begin(this.#stored);
    this.#findReaders();
    this.#session?.revive();
  }

  async receive(
    claims: SessionClaims,
    messages: readonly Parsed[],
    isBatch: boolean,
  ): Promise<Outcome> {
    const session = this.#use(claims);
    return session?.receive(messages, isBatch, this.#openChannel) ?? UNKNOWN;
  }

  /** Opens or resumes a client's stream: a WebSocket of frames, or an outcome as JSON. */
  override fetch(request: Request): Response {
    const { claims, lastEventId } = readStreamRequest(request);
    const isNew = lastEventId === undefined;
    const session = this.#use(claims, isNew);
    if (session === undefined) return Response.json(UNKNOWN);
    if (!this.#streamOpens.take()) {
      const message = "This session opens streams too often; wait a minute";
      return Response.json(refuse(429, ErrorCode.Transport, message));
    }
    const place = session.placeFor(lastEventId);
    if ("kind" in place) return Response.json(place);
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    const channel = new SocketChannel(server, this.#limits.windowBytes, {
      ...{ stream: place.head.id, openedAt: Date.now(), sent: place.after, ahead: 0 },
    });
    this.#sockets.set(server, { channel, feed: session.attach(place, channel) });
    // The stream of HTTP+SSE is the session: it is there from here on.
    if (isNew && claims.client === undefined) this.#save({});
    return new Response(null, { status: 101, webSocket: client });
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    count("webSocketMessagesIn");
    const found = this.#sockets.get(socket);
    found?.channel.acknowledged(Number(message));
    found?.feed.pump();
  }

  override async webSocketClose(socket: WebSocket, code: number): Promise<void> {
    this.#sockets.get(socket)?.feed.abandon();
    this.#sockets.delete(socket);
    // The stream of HTTP+SSE is the session; only one that broke may come back.
    const isLeft = code === CLIENT_GONE_CODE && this.#session?.hasReaders === false;
    if (isLeft && this.#stored?.door === "http+sse") await this.#end();
  }

  override webSocketError(socket: WebSocket): Promise<void> {
    return this.webSocketClose(socket, 0);
  }

  /** Takes what a watch brought that runs where the client's stream is held. */
  async watched(claims: SessionClaims, watched: Watched): Promise<void> {
    await this.#use(claims)?.receiveWatched(watched);
  }

  /** Such a watch found the upstream session forgotten. */
  async upstreamForgotten(claims: SessionClaims, sessionId?: string): Promise<void> {
    await this.#use(claims)?.upstreamForgotten(sessionId);
  }

  /** The reader of a stream that `receive` gave has gone. */
  detach(reader: string): void {
    this.#readers.get(reader)?.abandon();
  }

  /** @returns `false` when there was no such session any more. */
  async close(claims: SessionClaims): Promise<boolean> {
    const session = this.#use(claims);
    if (session === undefined) return false;
    await this.#end(claims.expiresAt * 1000);
    return true;
  }

  override async alarm(): Promise<void> {
    this.#clock.rang();
    const now = Date.now();
    const isOver = (this.#deletedUntil ?? this.#stored?.expiresAt ?? Infinity) <= now;
    if (isOver || (this.#desertedUntil() ?? Infinity) <= now) await this.#end();
    else this.#ringAgain();
  }

  /**
   * The session of an id, from nothing if need be.
   *
   * @param isNew a session of HTTP+SSE begins with its stream.
   */
  #use({ route, client, expiresAt }: SessionClaims, isNew = false): Session | undefined {
    if (this.#deletedUntil !== undefined) return undefined;
    if (this.#session !== undefined) return this.#session;
    if (client === undefined && !isNew) return undefined;
    const stored: StoredSession = {
      ...{ door: client === undefined ? "http+sse" : "streamable-http", route },
      ...{ client, expiresAt: expiresAt * 1000 },
    };
    this.#stored = stored;
    this.#session = this.#begin(stored);
    return this.#session;
  }

  /** @returns `undefined` when the endpoint leads nowhere: a deploy may have taken its server. */
  #begin({ door, route, client, upstream }: StoredSession): Session | undefined {
    const slug = /^\/(?:mcp|sse)\/([^/]+)$/.exec(route)?.[1];
    const picked = pickTarget(this.#servers, slug);
    if (picked.kind !== "target") return undefined;
    const { target } = picked;
    return new Session({
      ...{ door, client, log: this.#log, limits: sessionLimits(this.#limits) },
      connect: (facts, unsolicited) =>
        new LegacyRelay({
          ...{ target, client: facts, unsolicited, saved: upstream },
          onReopened: () => unsolicited.reopened(),
          save: (state) => this.#save({ upstream: state }),
        }),
      introduce: (facts) => introduce(target, facts, (work) => this.ctx.waitUntil(work)),
      onInitialized: (facts) => this.#save({ client: facts }),
      onBusy: (isBusy) => this.#keep(isBusy),
      onDetach: () => this.#expectBack(),
    });
  }

  #save(change: Partial<StoredSession>): void {
    if (this.#stored === undefined) return;
    this.#stored = { ...this.#stored, ...change };
    this.#store.save(this.#stored);
    if (!this.#isSaved) this.#clock.noLaterThan(this.#stored.expiresAt);
    this.#isSaved = true;
  }

  /** Leaves nothing but, until this time, the knowledge that there is nothing. */
  async #end(deletedUntil?: number): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    this.#stored = undefined;
    this.#deletedUntil = deletedUntil;
    this.#keep(false);
    const emptied = this.#store.empty(deletedUntil);
    this.#log.close();
    await emptied;
    this.#clock.rang();
    this.#clock.noLaterThan(deletedUntil);
    await session?.close();
  }

  /** The readers that were there before this life of the object. */
  #findReaders(): void {
    const found = this.ctx.getWebSockets().map((socket) => ({ socket, was: attachmentOf(socket) }));
    found.sort((a, b) => (a.was?.openedAt ?? 0) - (b.was?.openedAt ?? 0));
    for (const { socket, was } of found) {
      if (this.#session === undefined || was === undefined) {
        socket.close(COME_BACK_CODE, "come back");
        continue;
      }
      const channel = new SocketChannel(socket, this.#limits.windowBytes, was);
      const head = this.#log.adopt(was.stream, was.sent);
      const feed = this.#session.reattach({ head, after: was.sent }, channel);
      this.#sockets.set(socket, { channel, feed });
    }
  }

  readonly #openChannel: OpenChannel = (events) => {
    for (const [reader, { isOpen }] of this.#readers) if (!isOpen) this.#readers.delete(reader);
    const reader = crypto.randomUUID();
    const channel = new LineChannel({
      ...events,
      windowBytes: this.#limits.windowBytes,
      synced: () => this.ctx.storage.sync(),
    });
    this.#readers.set(reader, channel);
    return { body: channel.body, reader, channel };
  };

  /** Keeps the object for the calls that run in it. */
  #keep(isBusy: boolean): void {
    clearTimeout(this.#keeping);
    this.#keeping = isBusy ? setTimeout(() => this.#ringAgain(), ALARM_KEPT_MS / 2) : null;
  }

  /** What is logged is to be found by the next life of this object, and to go in its time. */
  #logged(): void {
    if (!this.#isSaved) this.#save({});
    const due = Date.now() + this.#limits.retentionMinutes * 60_000;
    if (this.#clock.ringsBy(due)) return;
    this.#clock.noLaterThan(this.#log.expiresAt() ?? due);
  }

  /** A session of HTTP+SSE ends when its reader does not come back. */
  #expectBack(): void {
    if (this.#session?.hasReaders === false) this.#desertedAt = Date.now();
    this.#clock.noLaterThan(this.#desertedUntil());
  }

  #desertedUntil(): number | undefined {
    if (this.#stored?.door !== "http+sse" || this.#session?.hasReaders === true) return undefined;
    return this.#desertedAt + this.#limits.lingerSeconds * 1000;
  }

  /** The alarm has rung, or was never set: what is due next? */
  #ringAgain(): void {
    this.#log.expire();
    this.#clock.noLaterThan(this.#deletedUntil ?? this.#stored?.expiresAt);
    this.#clock.noLaterThan(this.#log.expiresAt());
    this.#clock.noLaterThan(this.#desertedUntil());
    if (this.#session?.isIdle === false) this.#clock.noLaterThan(Date.now() + ALARM_KEPT_MS);
  }
}
