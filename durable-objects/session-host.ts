/**
 * Hosts one session on the storage and the alarm of its object: begins it, wires it, ends it, and does
 * what is due. The sealed session id describes the session, so an empty or new object serves it as well
 * as one with stored state.
 */

import type { HeldAccounts } from "../src/accounts/held-accounts.ts";
import type { Config } from "../src/config/config.ts";
import type { News } from "../src/catalog/feeds.ts";
import type { ObjectSink } from "../src/activity/object-sink.ts";
import { isOfNews } from "../src/notifications/server-keys.ts";
import type { DeliveryAnswer } from "../src/notifications/fan-out/deliveries.ts";
import type { CallRecord } from "../src/observability/call-record.ts";
import { defaultLimits, type Limits } from "../src/policy/limits.ts";
import { EventLog } from "../src/sessions/log/event-log.ts";
import type { SessionClaims } from "../src/sessions/session-id.ts";
import type { EndedAccount } from "../src/upstream/credentials.ts";
import type { Session } from "../src/sessions/session.ts";
import { SessionLife } from "../src/sessions/state.ts";
import { publisherOfKey, SERVERS_KEY } from "../src/upstream/server-key.ts";
import { AlarmClock } from "./alarm-clock.ts";
import { activityOfObject } from "./call-sinks.ts";
import { FollowedConfig } from "./followed-config.ts";
import { heldAccountsOf } from "./held-accounts.ts";
import { meteredSql } from "./metered-sql.ts";
import { SessionStore } from "./session-store.ts";
import { SessionPublishing } from "./session-publishing.ts";
import { type WiredSession, wireSession } from "./session-wiring.ts";

const MARK_LENGTH = 6;
const MINUTE_MS = 60_000;
/** An alarm keeps the object for a call that runs this long: the platform may evict a waiting object. */
const ALARM_KEPT_MS = 30_000;

export class SessionHost {
  readonly limits: Limits;
  readonly log: EventLog;
  readonly life: SessionLife;
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #followed: FollowedConfig;
  readonly #store: SessionStore;
  readonly #clock: AlarmClock;
  /** Of the person of the latest request: the configuration may make and unmake administrators. */
  #isAdmin = false;
  readonly #accounts: HeldAccounts;
  readonly #activity: ObjectSink | undefined;
  readonly #publishing: SessionPublishing;
  #keeping: number | null = null;
  #wired: WiredSession | undefined;
  /** An earlier life may have left calls open. */
  #isRevivalDue: boolean;

  constructor(ctx: DurableObjectState, env: Env) {
    this.#ctx = ctx;
    this.#env = env;
    this.#followed = new FollowedConfig(ctx, env);
    this.limits = this.#followed.config?.limits ?? defaultLimits();
    this.#clock = new AlarmClock(ctx);
    this.#store = new SessionStore(ctx.storage, () => this.#scheduleAlarm());
    this.#isRevivalDue = this.#store.isSaved;
    const onPublished = (): void => this.#published();
    const { config } = this.#followed;
    this.#publishing = new SessionPublishing(env, config, this.#store, onPublished);
    this.#accounts = heldAccountsOf(ctx, env, "session", (ended) => this.accountEnded(ended));
    this.#activity =
      this.#followed.config &&
      activityOfObject(env, this.#followed.config, (at) => {
        // A session that has ended leaves no alarm.
        if (this.#store.known !== undefined) this.#clock.noLaterThan(at);
      });
    this.life = new SessionLife(this.#store);
    this.log = new EventLog({
      sql: meteredSql(ctx.storage.sql),
      limits: this.limits,
      mark: ctx.id.toString().slice(-MARK_LENGTH),
      random: () => crypto.randomUUID().slice(0, MARK_LENGTH),
      now: Date.now,
      onWrite: () => this.#logged(),
    });
  }

  /** @param findReaders called when the stored session is there, if there is one, and before it sends anything. */
  begin(findReaders: () => void): void {
    this.#followed.begin(
      () => {
        this.#wire();
        findReaders();
        this.#revive();
        // A reader that went while the object slept is not found, and so leaves nobody.
        this.#scheduleAlarm();
      },
      (config) => this.#configured(config),
    );
  }

  /** To be called first with each call: an operator may have changed the servers. */
  follow(): Promise<unknown> | undefined {
    this.#accounts.retry();
    return this.#followed.follow();
  }

  /** `undefined` before the session begins, after its end, and while its endpoint has no server. */
  get session(): Session | undefined {
    return this.#wired?.session;
  }

  /** True from the session's beginning to its end, also while its endpoint has no server. */
  get isThere(): boolean {
    return this.#store.known !== undefined;
  }

  /**
   * The session of an id; made from the id's claims if nothing is stored.
   *
   * @param isNew a session of HTTP+SSE begins with its stream.
   * @param isOfNow the claims are of a request that has just come. Those of a stream that a Worker holds are as old as
   *   the stream, and say nothing of a person who has published since.
   */
  use(
    claims: SessionClaims,
    { isNew = false, isOfNow = true }: { isNew?: boolean; isOfNow?: boolean } = {},
  ): Session | undefined {
    this.#isAdmin = claims.isAdmin === true;
    const { route, principal, person, application, origin, client, expiresAt, published } = claims;
    if (this.life.state !== "new") {
      this.#learn(claims, isOfNow);
      return this.session;
    }
    if (client === undefined && !isNew) return undefined;
    this.#store.begin({
      door: client === undefined ? "http+sse" : "streamable-http",
      route,
      principal,
      ...(person === undefined ? {} : { person, application, origin }),
      ...(published !== undefined && { published }),
      client,
      expiresAt: expiresAt * 1000,
      upstreams: {},
    });
    this.life.take(client === undefined ? "connected" : "begun");
    this.#wire();
    return this.session;
  }

  /** A client has opened a stream. With HTTP+SSE, the stream is the session: it exists from here on. */
  opened(): void {
    if (this.#store.known?.door !== "http+sse") return;
    this.#save();
    this.#noteAway();
  }

  /** @returns the records of calls that have ended, which the caller sends on. */
  endedCalls(): readonly CallRecord[] {
    return this.#activity?.handOver() ?? [];
  }

  /** @throws Error when what the news is of cannot be learned now: it is to be delivered again. */
  async deliver(news: News): Promise<DeliveryAnswer> {
    if (this.#isGone) return "gone";
    if (news.slug === SERVERS_KEY) {
      await this.#followed.renew();
      if (!isOfNews(this.#followed.config?.added?.version, news))
        throw new Error("The servers are not known yet");
      // Also where this life has begun with the new ones.
      this.session?.serversChanged();
    } else if (publisherOfKey(news.slug) !== undefined) await this.#publishing.read();
    // It may have ended meanwhile.
    if (this.#isGone) return "gone";
    const delivery = this.#wired?.subscriptions()?.deliver(news);
    if (delivery !== undefined) return delivery;
    // Its servers are not configured at the moment.
    this.#park();
    return "offline";
  }

  /** Ends what was opened with the account. @throws Error where it is to be told again. */
  async accountEnded(ended: EndedAccount): Promise<void> {
    if (this.#isUnasked) throw new Error("The servers are not known yet");
    await this.session?.accountEnded(ended);
  }

  /** A connection has ended on purpose: the stream is the session, with HTTP+SSE. */
  async clientLeft(): Promise<void> {
    const isBound = this.#store.known?.door === "http+sse";
    const isLeft = this.session !== undefined && this.life.awaySince !== undefined;
    if (isBound && isLeft) await this.end();
  }

  /** Ends the session. @param deletedUntil leaves a tombstone until this time, in milliseconds since 1970. */
  async end(deletedUntil?: number): Promise<void> {
    const { session } = this;
    this.life.take(deletedUntil === undefined ? "closed" : "deleted");
    this.#wired = undefined;
    this.#keep(false);
    const emptied = this.#store.empty(deletedUntil);
    const released = this.#accounts.release();
    this.log.close();
    await emptied;
    this.#clock.fired();
    this.#clock.noLaterThan(deletedUntil);
    await session?.close();
    await released;
    await this.#activity?.flush();
  }

  /** Does what is due, after the alarm has fired. */
  async wake(): Promise<void> {
    this.#clock.fired();
    if (this.#isUnasked) await this.#followed.follow();
    this.#accounts.retry();
    const sent = this.#activity?.flush();
    if ((this.#endsAt ?? Infinity) <= Date.now()) await this.end();
    else this.#work();
    await sent;
  }

  /** A session of an earlier version, or of before its servers had accounts, learns who calls. */
  #learn({ person, application, origin, published }: SessionClaims, isOfNow: boolean): void {
    if (isOfNow || published !== undefined) this.#publishing.learn(published);
    const { known } = this.#store;
    if (person === undefined || known === undefined || known.person !== undefined) return;
    this.#store.save({ person, application, origin });
    this.session?.serversChanged();
  }

  /** An operator has changed the servers. */
  #configured(config: Config): void {
    const wired = this.#wired;
    if (wired === undefined) this.#wireLate();
    else if (!wired.configured(config)) {
      // Its endpoint has no server any more. What is stored stays for when it has one again.
      this.#wired = undefined;
      this.#keep(false);
      // News may not find the session subscribed any more.
      this.#park();
      this.#ctx.waitUntil(wired.session.serversGone());
    }
  }

  /** The client is told of everything that was promised to it when its servers are configured again. */
  #park(): void {
    this.#store.saveInbox({ seqs: {}, ...this.#store.savedInbox(), isParked: true });
  }

  /** The person publishes other servers. */
  #published(): void {
    // The endpoint may have had no server.
    if (this.#wired === undefined) this.#wireLate();
    else this.#wired.subscriptions()?.publishedChanged();
  }

  /** The endpoint has a server again, or it was not known yet whether it has one. */
  #wireLate(): void {
    this.#wire();
    this.#revive();
    this.#scheduleAlarm();
  }

  /** Once in a life: a call that has begun in this one is not taken up. */
  #revive(): void {
    if (!this.#isRevivalDue || this.session === undefined) return;
    this.#isRevivalDue = false;
    this.session.revive();
  }

  #wire(): void {
    const { known } = this.#store;
    const { config } = this.#followed;
    if (known === undefined || config === undefined) return;
    this.#wired = wireSession(known, {
      ctx: this.#ctx,
      env: this.#env,
      config,
      life: this.life,
      log: this.log,
      store: this.#store,
      isAdmin: () => this.#isAdmin,
      accounts: this.#accounts,
      activity: this.#activity,
      publishing: this.#publishing,
      onBusy: (isBusy) => this.#keep(isBusy),
      onSubscribed: () => this.#scheduleAlarm(),
      onDetach: () => this.#scheduleAlarm(),
    });
  }

  /** Keeps the object alive while calls run in it. */
  #keep(isBusy: boolean): void {
    clearTimeout(this.#keeping);
    this.#keeping = isBusy ? setTimeout(() => this.#work(), ALARM_KEPT_MS / 2) : null;
  }

  /** Stores the session for the next life, if it is not stored yet. */
  #save(): void {
    if (!this.#store.isSaved) this.#store.save({});
  }

  /** With HTTP+SSE, the session ends when nobody has read its stream for a while, also over several lives. */
  #noteAway(): void {
    const { known, isSaved } = this.#store;
    const { awaySince } = this.life;
    if (known?.door !== "http+sse" || !isSaved) return;
    if ((known.awaySince === undefined) !== (awaySince === undefined)) {
      this.#store.save({ awaySince });
    }
  }

  /** After a logged event: schedules its expiry. */
  #logged(): void {
    this.#save();
    const due = Date.now() + this.limits.retentionMinutes * MINUTE_MS;
    if (this.#clock.firesBy(due)) return;
    this.#clock.noLaterThan(this.log.expiresAt() ?? due);
  }

  /** Does the work that is due, and sets the alarm for the next. */
  #work(): void {
    this.log.expire();
    const subscriptions = this.#wired?.subscriptions();
    const { awaySince } = this.life;
    if ((this.#pausesAt ?? Infinity) <= Date.now()) subscriptions?.goOffline();
    else if (subscriptions?.isWatching === true && awaySince !== undefined) {
      // Stored, because the next life of this object cannot know it.
      if (subscriptions.awaySince === undefined) subscriptions.left(awaySince);
    }
    // Also in a new life, which does not know what it was woken for.
    subscriptions?.seen();
    this.#scheduleAlarm();
    this.#clock.noLaterThan(this.log.expiresAt());
    if (this.session?.isIdle === false) this.#clock.noLaterThan(Date.now() + ALARM_KEPT_MS);
  }

  #scheduleAlarm(): void {
    if (this.#store.known !== undefined && !this.#store.isSaved) return;
    this.#noteAway();
    this.#clock.noLaterThan(this.#endsAt);
    this.#clock.noLaterThan(this.#pausesAt);
    this.#clock.noLaterThan(this.#wired?.subscriptions()?.renewsAt);
    if (this.#isUnasked) this.#clock.noLaterThan(Date.now() + ALARM_KEPT_MS);
  }

  /** Nobody could be asked yet what operators have added, so calls of an earlier life may wait. */
  get #isUnasked(): boolean {
    const { config } = this.#followed;
    const isWaiting = this.#isRevivalDue && this.session === undefined && this.isThere;
    return isWaiting && config !== undefined && config.added === undefined;
  }

  get #isGone(): boolean {
    const { known } = this.#store;
    return known === undefined || known.expiresAt <= Date.now();
  }

  /** When the session ends by itself, or its tombstone goes, in milliseconds since 1970. */
  get #endsAt(): number | undefined {
    const { deletedUntil, known } = this.#store;
    if (known === undefined) return deletedUntil;
    return this.life.endsAt(known.door, known.expiresAt, this.limits.lingerSeconds * 1000);
  }

  /** When the client has had no stream for so long that its subscriptions are paused. */
  get #pausesAt(): number | undefined {
    const subscriptions = this.#wired?.subscriptions();
    const { awaySince } = this.life;
    if (subscriptions?.isWatching !== true || awaySince === undefined) return undefined;
    const since = subscriptions.awaySince ?? awaySince;
    return since + this.limits.retentionMinutes * MINUTE_MS;
  }
}
