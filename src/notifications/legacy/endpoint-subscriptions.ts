/**
 * What the client of a session is told of changes: by the fan-out, so that a server is watched once
 * for all who want to hear of it. What the session wants is stored with it, and said again whenever
 * the client listens, and in each life of the session's holder: that brings back whatever was
 * restarted on the way.
 */

import { sleep } from "../../lib/sleep.ts";
import { settleWithin } from "../../lib/time-out.ts";
import { KeyedMutex } from "../../lib/keyed-mutex.ts";
import { logUnexpected } from "../../observability/unexpected.ts";
import { RESOURCE_UPDATED } from "../../protocol/change-notices.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call } from "../../protocol/exchange.ts";
import { errorReply, type Params, type Reply } from "../../protocol/json-rpc.ts";
import { attributedAt } from "../../endpoint/attribution.ts";
import type { Interests, News } from "../../catalog/feeds.ts";
import { malformed } from "../../catalog/routing/routing-refusals.ts";
import type { Server } from "../../endpoint/server.ts";
import type { RequestScope } from "../../catalog/request-scope.ts";
import {
  type Delivery,
  NotificationInbox,
  type NotificationInboxOptions,
  type SavedInbox,
} from "./notification-inbox.ts";
import type { OwnSubscriptions } from "./own-subscriptions.ts";
import { Deduplicator } from "../../lib/deduplicator.ts";
import { isListTopic, type ListTopic, listToldBy, topicOf } from "../../catalog/topics.ts";
import { type SavedWanted, SessionSubscriptions } from "./session-subscriptions.ts";

const MAX_ATTEMPTS = 6;
const FIRST_PAUSE_MS = 50;
/** All of them together: they are kept in one row, which has room for 2 MB. */
const MAX_URI_CHARS = 256 * 1024;
/** What a client waits at most for its own session to be subscribed too. */
const OWN_WAIT_MS = 1000;
/** … and for it to be opened and subscribed, when nobody else tells of the resource. */
const BEGIN_WAIT_MS = 10_000;

/** The fan-out, as one session sees it. A call that failed can be made again. */
export interface NewsSource {
  subscribe(interests: Interests): Promise<Interests>;
  /** @param interests everything, if not said. */
  unsubscribe(interests?: Interests): Promise<void>;
}

export interface EndpointSubscriptionsOptions {
  readonly requestScope: Pick<RequestScope, "endpoint" | "limits" | "waitUntil">;
  readonly source: NewsSource;
  readonly own: OwnSubscriptions;
  /** The endpoint's only server says nothing in a session of the client's, since there is none. */
  readonly isSilent: () => boolean;
  readonly attributed: NotificationInboxOptions["unsolicited"];
  readonly savedWanted: SavedWanted | undefined;
  readonly saveWanted: (state: SavedWanted) => void;
  readonly savedInbox: SavedInbox | undefined;
  readonly saveInbox: (state: SavedInbox) => void;
}

export class EndpointSubscriptions {
  readonly #options: EndpointSubscriptionsOptions;
  readonly #wanted: SessionSubscriptions;
  readonly #inbox: NotificationInbox;
  readonly #deduplicator = new Deduplicator<"own" | "feed">();
  readonly #turns = new KeyedMutex();
  readonly #over = new AbortController();
  #renewing: Promise<unknown> = Promise.resolve();
  /** Nobody has been told in this life of the session's holder what the session wants. */
  #isDue: boolean;

  constructor(options: EndpointSubscriptionsOptions) {
    const { requestScope, attributed, savedWanted, savedInbox: saved, saveInbox: save } = options;
    const retentionMs = requestScope.limits.retentionMinutes * 60_000;
    this.#options = options;
    this.#wanted = new SessionSubscriptions(requestScope.endpoint, savedWanted);
    this.#inbox = new NotificationInbox({ unsolicited: attributed, saved, save, retentionMs });
    this.#isDue = !this.#wanted.isEmpty;
  }

  /** `resources/subscribe` of a server's: answered once it is known that there will be news. */
  subscribe({ slug }: Server, params: Params | undefined): Promise<Reply> {
    const uri = params?.["uri"];
    if (typeof uri !== "string") return Promise.resolve(malformed("uri"));
    return this.#turns.run(uri, () => this.#subscribe(uri, slug));
  }

  async #subscribe(uri: string, slug: string): Promise<Reply> {
    const before = this.#wanted.ownerOf(uri);
    if (before !== undefined && before !== slug) this.#forget(uri, before);
    const refusal = this.#wanted.ownerOf(uri) === undefined ? this.#refusal(uri) : undefined;
    if (refusal !== undefined) return refusal;
    // Kept first: there may be news before there is an answer, and another life is to know of it.
    if (before !== slug) {
      this.#wanted.add(uri, slug);
      this.#save();
    }
    const { own, requestScope } = this.#options;
    const owning = own.subscribe(slug, uri);
    requestScope.waitUntil(owning);
    const topic = topicOf(uri);
    const honoured = await this.#tellSource({ [slug]: [topic] });
    if (honoured !== undefined && new Map(Object.entries(honoured)).get(slug)?.includes(topic)) {
      await settleWithin(owning, OWN_WAIT_MS);
      return this.#doneAt(slug);
    }
    if (await owning) {
      // Who could not be told is told when the client is seen again.
      this.#isDue ||= honoured === undefined;
      return this.#doneAt(slug);
    }
    // What the client was told in `initialize` is true of a session that it has with the server itself.
    if (honoured !== undefined && (await this.#beginOwn(uri, slug))) return { result: {} };
    if (honoured !== undefined || before !== slug) {
      this.#wanted.delete(uri);
      this.#save();
    }
    if (honoured === undefined) {
      const message = "The gateway cannot tell of changes at the moment; subscribe again later";
      return errorReply(ErrorCode.InternalError, message, { uri });
    }
    const message = `Upstream "${slug}" does not tell when this resource changes, or is not to be had now`;
    return errorReply(ErrorCode.InvalidParams, message, { uri });
  }

  /** @returns whether the client's own session with the server will tell of the resource. */
  async #beginOwn(uri: string, slug: string): Promise<boolean> {
    const { own, requestScope } = this.#options;
    let isLate = false;
    const isWanted = (one: string): boolean =>
      !this.#over.signal.aborted && this.#wanted.ownerOf(one) === slug;
    const beginning = own.begin(slug, uri).then(async (isSubscribed) => {
      if (!isSubscribed) return false;
      // The client has been told that it hears nothing of it.
      if (isLate && !isWanted(uri)) await own.unsubscribe(slug, uri);
      return true;
    });
    requestScope.waitUntil(beginning);
    const isSubscribed = await settleWithin(beginning, BEGIN_WAIT_MS);
    isLate = isSubscribed === undefined;
    if (isSubscribed !== true) return false;
    const others = this.#wanted.urisOf(slug).filter((one) => one !== uri);
    requestScope.waitUntil(own.subscribeAll(slug, others, isWanted));
    return true;
  }

  /** `resources/unsubscribe`. */
  unsubscribe(params: Params | undefined): Reply {
    const uri = params?.["uri"];
    if (typeof uri !== "string") return malformed("uri");
    const slug = this.#wanted.ownerOf(uri);
    if (slug !== undefined) {
      this.#forget(uri, slug);
      this.#inbox.forget(topicOf(uri));
      this.#save();
    }
    return slug === undefined ? { result: {} } : this.#doneAt(slug);
  }

  /**
   * A tool of this server is about to be called: what it does may be told in the session alone that
   * the client has there, so that is subscribed first, unless it takes long.
   */
  async called({ slug }: Server): Promise<void> {
    const { own, requestScope } = this.#options;
    if (!own.called(slug)) return;
    const isWanted = (uri: string): boolean =>
      !this.#over.signal.aborted && this.#wanted.ownerOf(uri) === slug;
    const subscribed = own.subscribeAll(slug, this.#wanted.urisOf(slug), isWanted);
    requestScope.waitUntil(subscribed);
    await settleWithin(subscribed, OWN_WAIT_MS);
  }

  /** What the client's own session with a server is subscribed to, if that is opened anew. */
  ownUris(slug: string): readonly string[] {
    return this.#options.own.isAt(slug) ? this.#wanted.urisOf(slug) : [];
  }

  /**
   * Whether the client is to hear what a server says in the client's own session with it: of
   * changes only what it wants to hear of, and has not heard by another way.
   */
  passes(slug: string, { method, params }: Call): boolean {
    const list = listToldBy(method);
    if (list !== undefined) return !this.isToldOf(slug, list);
    if (method !== RESOURCE_UPDATED) return true;
    const uri = params?.["uri"];
    if (typeof uri !== "string") return false;
    const topic = topicOf(uri);
    return this.#wanted.wants(slug, topic) && this.#deduplicator.isNew(topic, "own");
  }

  /** The client listens, or listens again. */
  listened(): void {
    this.#wanted.listen(this.#options.isSilent());
    const hasMissed = this.#inbox.listened();
    if (!this.#wanted.isEmpty || hasMissed) this.#renew(hasMissed);
  }

  /** A server turned out to say nothing by itself: what it would have said is told by the fan-out. */
  silenced(): void {
    if (this.#options.attributed.hasOpenStream()) this.listened();
  }

  /** The client is there, in a life of the session's holder in which it was not seen yet. */
  seen(): void {
    if (this.#isDue && !this.#inbox.isParked) this.#renew(false);
  }

  /** Takes news of the fan-out's. */
  deliver(news: News): Delivery {
    // Whoever brings it knows of the session.
    this.#isDue = false;
    const topics = [...new Set(news.topics)];
    return this.#inbox.take(
      news,
      topics.filter((topic) => this.#wanted.wants(news.slug, topic)),
      (topic) => isListTopic(topic) || this.#deduplicator.isNew(topic, "feed"),
    );
  }

  /** Whether the client hears by the fan-out when a list of a server changes. */
  isToldOf(slug: string, topic: ListTopic): boolean {
    return this.#wanted.isToldOf(slug, topic);
  }

  /** Since when nobody has listened, in milliseconds since 1970, as far as that was noted. */
  get awaySince(): number | undefined {
    return this.#inbox.awaySince;
  }

  /** Servers are watched for this session. */
  get isWatching(): boolean {
    return !this.#wanted.isEmpty && !this.#inbox.isParked;
  }

  /** Nobody listens. @param since in milliseconds since 1970. */
  left(since: number): void {
    this.#inbox.left(since);
  }

  /** Nobody has listened for long: nothing is watched for this session until somebody does. */
  park(): void {
    if (!this.isWatching) return;
    this.#inbox.park();
    this.#renewing = this.#renewing.then(async () => {
      // Who cannot be told learns it with the next piece of news.
      if (this.#inbox.isParked) await this.#options.source.unsubscribe().catch(() => undefined);
    });
    this.#options.requestScope.waitUntil(this.#renewing);
  }

  /** The session is over. */
  async end(): Promise<void> {
    this.#over.abort(new Error("The session is over"));
    if (this.#wanted.isEmpty || this.#inbox.isParked) return;
    // Who cannot be told now learns it with the next piece of news.
    await this.#options.source.unsubscribe().catch(() => undefined);
  }

  #renew(hasMissed: boolean): void {
    this.#isDue = false;
    this.#renewing = this.#renewing
      .then(async () => {
        const honoured = await this.#tellSource(this.#wanted.interests());
        // Who cannot be told now is told when the client is seen again.
        if (honoured === undefined) this.#isDue = true;
        else if (this.#wanted.learn(honoured)) this.#save();
        if (hasMissed) this.#inbox.tellAll(this.#wanted.topics());
      })
      .catch(logUnexpected);
    this.#options.requestScope.waitUntil(this.#renewing);
  }

  /** @returns what will be told of; `undefined` when nobody can be told. */
  async #tellSource(interests: Interests): Promise<Interests | undefined> {
    const { signal } = this.#over;
    for (let attempt = 0; attempt < MAX_ATTEMPTS && !signal.aborted; attempt++) {
      try {
        return await this.#options.source.subscribe(interests);
      } catch {
        // It is being restarted.
        await sleep(FIRST_PAUSE_MS * 2 ** attempt, signal).catch(() => undefined); // it is over
      }
    }
    return undefined;
  }

  /** In its turn, so that a later subscription is not undone. */
  #forget(uri: string, slug: string): void {
    this.#wanted.delete(uri);
    const renewed = this.#renewing;
    const told = this.#turns.run(uri, async () => {
      await renewed;
      if (this.#wanted.ownerOf(uri) === slug) return;
      const { own, source } = this.#options;
      // Who cannot be told goes on bringing news, which nobody takes.
      const left = source.unsubscribe({ [slug]: [topicOf(uri)] }).catch(() => undefined);
      await Promise.all([left, own.unsubscribe(slug, uri)]);
    });
    this.#options.requestScope.waitUntil(told);
  }

  #doneAt(slug: string): Reply {
    return attributedAt(this.#options.requestScope.endpoint, slug, { result: {} });
  }

  #refusal(uri: string): Reply | undefined {
    const { subscribedUrisPerClient: most } = this.#options.requestScope.limits;
    const { uriCount, uriChars } = this.#wanted;
    if (uriCount < most && uriChars + uri.length <= MAX_URI_CHARS) return undefined;
    const message =
      uriCount < most
        ? `The URIs that this session is subscribed to come to more than ${MAX_URI_CHARS} characters`
        : `This session is subscribed to ${most} resources; unsubscribe from one`;
    return errorReply(ErrorCode.InvalidParams, message, { uri });
  }

  #save(): void {
    this.#options.saveWanted(this.#wanted.save());
  }
}
