/**
 * The Durable Object of one legacy session: wires the session to its storage, alarm and readers. The
 * sealed session id describes the session, so an empty or new object serves it as well as one with stored
 * state.
 */

import { DurableObject } from "cloudflare:workers";

import { type Config, loadConfig } from "../src/config/config.ts";
import { EventLog } from "../src/sessions/log/event-log.ts";
import type { News } from "../src/catalog/feeds.ts";
import type { DeliveryAnswer } from "../src/notifications/fan-out/deliveries.ts";
import { TokenBucket } from "../src/lib/token-bucket.ts";
import { readStreamRequest, streamResponse } from "../src/http/client-stream.ts";
import { count } from "../src/observability/costs.ts";
import { defaultLimits, type Limits } from "../src/policy/limits.ts";
import { ErrorCode } from "../src/protocol/error-codes.ts";
import type { Parsed } from "../src/protocol/json-rpc.ts";
import type { Forgotten, Watched } from "../src/sessions/dispatch.ts";
import { CLIENT_GONE_CODE } from "../src/sessions/frame.ts";
import { type SessionOutcome, refuseRequest } from "../src/sessions/session-outcome.ts";
import type { SessionClaims } from "../src/sessions/session-id.ts";
import type { Session } from "../src/sessions/session.ts";
import { AlarmClock } from "./alarm-clock.ts";
import { meteredSql } from "./metered-sql.ts";
import { logLimits } from "./session-limits.ts";
import { SessionReaders } from "./session-readers.ts";
import { SessionStore } from "./session-store.ts";
import { type WiredSession, wireSession } from "./session-wiring.ts";

const UNKNOWN: SessionOutcome = { kind: "unknown" };
const MARK_LENGTH = 6;
/** An alarm keeps the object for a call that runs this long: the platform may evict a waiting object. */
const ALARM_KEPT_MS = 30_000;

export class SessionObject extends DurableObject<Env> {
  readonly #config: Config | undefined;
  readonly #limits: Limits;
  readonly #store: SessionStore;
  readonly #clock: AlarmClock;
  readonly #log: EventLog;
  readonly #readers: SessionReaders;
  readonly #streamOpens: TokenBucket;
  #keeping: number | null = null;
  /** When the last reader left. At the start of a life: now, since an earlier reader may reconnect. */
  #desertedAt = Date.now();
  #wired: WiredSession | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    count("objectsConstructed");
    const loaded = loadConfig(env);
    this.#config = loaded.ok ? loaded.config : undefined;
    this.#limits = this.#config?.limits ?? defaultLimits();
    this.#clock = new AlarmClock(ctx.storage, (promise) => ctx.waitUntil(promise));
    this.#store = new SessionStore(ctx.storage, ({ expiresAt }) =>
      this.#clock.noLaterThan(expiresAt),
    );
    this.#log = new EventLog({
      sql: meteredSql(ctx.storage.sql),
      limits: logLimits(this.#limits),
      mark: ctx.id.toString().slice(-MARK_LENGTH),
      random: () => crypto.randomUUID().slice(0, MARK_LENGTH),
      now: Date.now,
      onWrite: () => this.#logged(),
    });
    this.#readers = new SessionReaders(ctx, this.#limits.windowBytes);
    this.#streamOpens = new TokenBucket(this.#limits.streamOpensPerMinute);
    this.#wire();
    this.#readers.find(this.#session, this.#log);
    this.#session?.revive();
  }

  async receive(
    claims: SessionClaims,
    messages: readonly Parsed[],
    isBatch: boolean,
  ): Promise<SessionOutcome> {
    const session = this.#use(claims);
    return session?.receive(messages, isBatch, this.#readers.openLine) ?? UNKNOWN;
  }

  /** Opens or resumes a client's stream: a WebSocket of frames, or an outcome as JSON. */
  override fetch(request: Request): Response {
    const { claims, lastEventId, openedAt: returning } = readStreamRequest(request);
    const isNew = lastEventId === undefined;
    const session = this.#use(claims, isNew);
    if (session === undefined) return Response.json(UNKNOWN);
    if (!this.#streamOpens.take()) {
      const message = "This session opens streams too often; wait a minute";
      return Response.json(refuseRequest(429, ErrorCode.Transport, message));
    }
    const place = session.placeFor(lastEventId);
    if ("kind" in place) return Response.json(place);
    const { socket, openedAt } = this.#readers.open(session, place, returning);
    // With HTTP+SSE, the stream is the session: it exists from here on.
    if (isNew && claims.client === undefined) this.#store.save({});
    return streamResponse(socket, openedAt);
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#readers.acknowledged(socket, Number(message));
  }

  override async webSocketClose(socket: WebSocket, code: number): Promise<void> {
    this.#readers.closed(socket);
    // With HTTP+SSE, the stream is the session; only a broken one may be reopened.
    const isLeft = code === CLIENT_GONE_CODE && this.#session?.hasReaders === false;
    if (isLeft && this.#store.known?.door === "http+sse") await this.#end();
  }

  override webSocketError(socket: WebSocket): Promise<void> {
    return this.webSocketClose(socket, 0);
  }

  /** Takes a message from a watch that runs in the Worker that holds the client's stream. */
  async receiveWatched(claims: SessionClaims, watched: Watched): Promise<void> {
    await this.#use(claims)?.receiveWatched(watched);
  }

  /** Such a watch found that a server no longer knows its session. */
  async upstreamForgotten(claims: SessionClaims, lost: Forgotten): Promise<void> {
    await this.#use(claims)?.upstreamForgotten(lost);
  }

  /** Takes news of the session's subscriptions; the same news may arrive twice. */
  deliver(news: News): DeliveryAnswer {
    const { known } = this.#store;
    if (known === undefined || known.expiresAt <= Date.now()) return "gone";
    const delivery = this.#wired?.subscriptions()?.deliver(news);
    if (delivery !== undefined) return delivery;
    // Its servers are not configured at the moment: the client is notified when they are again.
    this.#store.saveInbox({ seqs: {}, ...this.#store.savedInbox(), isParked: true });
    return "offline";
  }

  /** The reader of a stream that `receive` returned has gone. */
  detach(reader: string): void {
    this.#readers.detach(reader);
  }

  /** Deletes the session. @returns `false` when it no longer existed. */
  async close(claims: SessionClaims): Promise<boolean> {
    const session = this.#use(claims);
    if (session === undefined) return false;
    await this.#end(claims.expiresAt * 1000);
    return true;
  }

  override async alarm(): Promise<void> {
    this.#clock.fired();
    const now = Date.now();
    const { deletedUntil, known } = this.#store;
    const isOver = (deletedUntil ?? known?.expiresAt ?? Infinity) <= now;
    if (isOver || (this.#desertedUntil() ?? Infinity) <= now) await this.#end();
    else this.#renewAlarm();
  }

  get #session(): Session | undefined {
    return this.#wired?.session;
  }

  /**
   * The session of an id; made from the id's claims if nothing is stored.
   *
   * @param isNew a session of HTTP+SSE begins with its stream.
   */
  #use({ route, principal, client, expiresAt }: SessionClaims, isNew = false): Session | undefined {
    const { deletedUntil, known } = this.#store;
    if (deletedUntil !== undefined) return undefined;
    if (known !== undefined) return this.#session;
    if (client === undefined && !isNew) return undefined;
    this.#store.begin({
      door: client === undefined ? "http+sse" : "streamable-http",
      route,
      principal,
      client,
      expiresAt: expiresAt * 1000,
      upstreams: {},
    });
    this.#wire();
    return this.#session;
  }

  /** Makes the session from its stored state. */
  #wire(): void {
    const { known } = this.#store;
    if (known === undefined || this.#config === undefined) return;
    this.#wired = wireSession(known, {
      ctx: this.ctx,
      env: this.env,
      config: this.#config,
      log: this.#log,
      store: this.#store,
      onBusy: (isBusy) => this.#keep(isBusy),
      onWanted: () => this.#clock.noLaterThan(this.#abandonedAt()),
      onDetach: () => this.#awaitReader(),
    });
  }

  /** Ends the session. @param deletedUntil leaves a tombstone until this time, in milliseconds since 1970. */
  async #end(deletedUntil?: number): Promise<void> {
    const session = this.#session;
    this.#wired = undefined;
    this.#keep(false);
    const emptied = this.#store.empty(deletedUntil);
    this.#log.close();
    await emptied;
    this.#clock.fired();
    this.#clock.noLaterThan(deletedUntil);
    await session?.close();
  }

  /** Keeps the object alive while calls run in it. */
  #keep(isBusy: boolean): void {
    clearTimeout(this.#keeping);
    this.#keeping = isBusy ? setTimeout(() => this.#renewAlarm(), ALARM_KEPT_MS / 2) : null;
  }

  /** After a logged event: stores the session for the next life, and schedules the event's expiry. */
  #logged(): void {
    if (!this.#store.isSaved) this.#store.save({});
    const due = Date.now() + this.#limits.retentionMinutes * 60_000;
    if (this.#clock.firesBy(due)) return;
    this.#clock.noLaterThan(this.#log.expiresAt() ?? due);
  }

  /** Schedules the end of an HTTP+SSE session whose reader does not reconnect. */
  #awaitReader(): void {
    if (this.#session?.hasReaders === false) this.#desertedAt = Date.now();
    this.#clock.noLaterThan(this.#desertedUntil());
    this.#clock.noLaterThan(this.#abandonedAt());
  }

  /** When the session has had no reader for so long that its subscriptions are paused. */
  #abandonedAt(): number | undefined {
    const subscriptions = this.#wired?.subscriptions();
    if (subscriptions?.isWatching !== true || this.#session?.hasReaders === true) return undefined;
    const since = subscriptions.awaySince ?? this.#desertedAt;
    return since + this.#limits.retentionMinutes * 60_000;
  }

  #desertedUntil(): number | undefined {
    const isBound = this.#store.known?.door === "http+sse";
    if (!isBound || this.#session?.hasReaders === true) return undefined;
    return this.#desertedAt + this.#limits.lingerSeconds * 1000;
  }

  /** Does the work that is due, and sets the alarm for the next. */
  #renewAlarm(): void {
    const { deletedUntil, known } = this.#store;
    this.#log.expire();
    const abandonedAt = this.#abandonedAt();
    const subscriptions = this.#wired?.subscriptions();
    if (abandonedAt !== undefined && abandonedAt <= Date.now()) subscriptions?.goOffline();
    // Stored, because the next life of this object cannot know it.
    else if (abandonedAt !== undefined && subscriptions?.awaySince === undefined) {
      subscriptions?.left(this.#desertedAt);
    }
    this.#clock.noLaterThan(this.#abandonedAt());
    this.#clock.noLaterThan(deletedUntil ?? known?.expiresAt);
    this.#clock.noLaterThan(this.#log.expiresAt());
    this.#clock.noLaterThan(this.#desertedUntil());
    if (this.#session?.isIdle === false) this.#clock.noLaterThan(Date.now() + ALARM_KEPT_MS);
  }
}
