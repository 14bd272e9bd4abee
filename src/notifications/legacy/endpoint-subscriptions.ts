/**
 * The subscriptions of a session's client, served by the fan-out, so that a server is watched once for
 * all subscribers. The interests of the session are stored with it, and sent again whenever the client
 * listens, and in each life of the session's Durable Object: that restores every part that was
 * restarted on the way.
 */

import { settleWithin } from "../../lib/time-out.ts";
import { logUnexpected } from "../../observability/unexpected.ts";
import { RESOURCE_UPDATED } from "../../protocol/change-notices.ts";
import type { Call } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import type { Params } from "../../protocol/message-members.ts";
import { isIntroducedHere } from "../../endpoint/endpoint.ts";
import { type Interests, LIST_TOPICS, type News, type Topic } from "../../catalog/feeds.ts";
import type { Server } from "../../endpoint/server.ts";
import type { RequestScope } from "../../catalog/request-scope.ts";
import {
  NotificationInbox,
  type NotificationInboxOptions,
  type SavedInbox,
} from "./notification-inbox.ts";
import type { Listening } from "../../sessions/dispatch.ts";
import type { DeliveryAnswer } from "../fan-out/deliveries.ts";
import { OwnSubscriptions, type OwnSessions } from "./own-subscriptions.ts";
import { Deduplicator } from "../../lib/deduplicator.ts";
import { type Ask, askTopicOf, isListTopic, listChangedBy, topicOf } from "../../catalog/topics.ts";
import { slugOfKey } from "../../upstream/server-key.ts";
import { type AccountKeys, takeAccountNews, takePublisherNews } from "../server-keys.ts";
import { OWN_WAIT_MS, ResourceSubscriptions } from "./resource-subscriptions.ts";
import { type Announced, type NewsSource, SessionInterests } from "./session-interests.ts";
import { type SavedWanted, SessionSubscriptions } from "./session-subscriptions.ts";

/** A client that only listens sends nothing, which would make up for what the fan-out did not get. */
const RENEW_MS = 30_000;

export interface EndpointSubscriptionsOptions {
  readonly requestScope: Pick<RequestScope, "endpoint" | "limits" | "publisher" | "waitUntil">;
  readonly source: NewsSource;
  readonly own: OwnSessions;
  /** The endpoint's only server announces nothing in a session of the client, since there is none. */
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
  readonly #interests: SessionInterests;
  readonly #own: OwnSubscriptions;
  readonly #inbox: NotificationInbox;
  readonly #deduplicator = new Deduplicator<"own" | "feed">();
  readonly #resources: ResourceSubscriptions;
  #renewing: Promise<unknown> = Promise.resolve();
  /**
   * What the fan-out has may not be what is wanted: it has not received that in this life of the session's Durable
   * Object, or was not reached. A renewal, when the client is seen again, makes it so.
   */
  #mustRenew: boolean;
  /** When it is renewed at the latest. Another life need not know: the alarm that is set for it wakes that as well. */
  #renewsAt: number | undefined;
  /** The number of this life, once it is saved. */
  #savedLife: number | undefined;
  /**
   * The client listened when no list was promised to it, or was given lists without asking a vault: what is promised next
   * may have changed since.
   */
  #isLate: boolean;
  /**
   * The client was told of other servers, and may have read the lists of new ones before anybody watched these. It may
   * have been an earlier life that told it.
   */
  #hasToldOfServers: boolean;

  constructor(options: EndpointSubscriptionsOptions) {
    const { requestScope, attributed, savedWanted, savedInbox: saved, saveInbox: save } = options;
    const retentionMs = requestScope.limits.retentionMinutes * 60_000;
    this.#options = options;
    this.#wanted = new SessionSubscriptions(requestScope, savedWanted);
    this.#interests = new SessionInterests(options.source, requestScope, {
      before: savedWanted?.life,
      // Also of a session that was asked to be forgotten: the branch may not have heard that, or was asked again since.
      isKnown: savedWanted !== undefined,
      onBegin: () => {
        if (this.#savedLife !== this.#interests.life) this.#save();
      },
    });
    this.#own = new OwnSubscriptions(options.own, this.#wanted);
    this.#inbox = new NotificationInbox({ unsolicited: attributed, saved, save, retentionMs });
    this.#resources = new ResourceSubscriptions({
      ...{ requestScope, wanted: this.#wanted, own: this.#own },
      add: (interests) => this.#add(interests),
      granted: (accounts) => this.#follow(accounts),
      remove: (interests) => this.#remove(interests),
      dropped: (topic) => this.#inbox.forget(topic),
      save: () => this.#save(),
    });
    this.#mustRenew = savedWanted !== undefined && saved?.isParked !== true;
    this.#isLate = this.#wanted.hasNoPromise || savedWanted?.isLate === true;
    this.#hasToldOfServers = this.#wanted.lists().length > 0;
  }

  /** `resources/subscribe` at a server. */
  subscribe(server: Server, params: Params | undefined): Promise<Reply> {
    return this.#resources.subscribe(server, params);
  }

  /** `resources/unsubscribe`. */
  unsubscribe(params: Params | undefined): Reply {
    return this.#resources.unsubscribe(params);
  }

  /** Waits for the renewal before it, which takes away what it does not name. */
  async #add(interests: Interests): Promise<Announced> {
    await this.#renewing;
    const announced = await this.#interests.add(interests);
    if (announced.honoured === undefined) {
      this.#noteUnreached();
      this.#save();
    }
    return announced;
  }

  /** A renewal that was under way as a resource was asked for, and did not name it, may be of another account. */
  #follow(accounts: AccountKeys): void {
    const followed = this.#renewing.then(() => {
      if (!this.isWatching || !this.#wanted.noteLeftBehind(accounts)) return;
      this.#save();
      this.#renew(false);
    });
    this.#options.requestScope.waitUntil(followed);
  }

  /**
   * A tool of this server is about to be called: its effects may be announced only in the client's own
   * session there, so that is subscribed first, unless it takes longer than `OWN_WAIT_MS`.
   */
  async called({ slug }: Server): Promise<void> {
    const subscribed = this.#own.called(slug);
    if (subscribed === undefined) return;
    this.#options.requestScope.waitUntil(subscribed);
    await settleWithin(subscribed, OWN_WAIT_MS);
  }

  /** @returns the subscriptions of the client's own session with a server, if that is opened anew. */
  ownUris(slug: string): readonly string[] {
    return this.#own.urisAt(slug);
  }

  /** Messages in that session may have been missed: what nothing else announces may have changed. */
  missed(slug: string): void {
    // What only that session announced, the fan-out may announce by now; and in a new life, it first says what it does.
    if (this.#wanted.hasAlone(this.#own.urisAt(slug)) && !this.#inbox.isOffline) this.#renew(false);
    else this.seen();
    this.#renewing = this.#renewing.then(() => {
      const missed = this.#wanted.missed(this.#own.urisAt(slug));
      if (missed.length === 0) return;
      this.#inbox.add(missed.map(topicOf));
      this.#save();
    });
  }

  /**
   * Decides whether a message in the client's own session with a server reaches the client: a change
   * does only if the client wants it, and has not received it through the fan-out. A list that its server has promised
   * to announce comes through the fan-out alone: where the server reports its change in this session only, the feed
   * reads the list, and announces what it finds. The lists of an only server, however, pass through that session: the
   * feed may know nothing of what it reports there, and then announces nothing, though it has promised the lists to a
   * client whose person may publish servers. What both announce is told twice, since nothing says whether two reports
   * are of one change: a client that takes them for one may miss the other.
   */
  passes(slug: string, { method, params }: Call): boolean {
    const list = listChangedBy(method);
    if (list !== undefined) {
      const isPassedThrough = !isIntroducedHere(this.#options.requestScope.endpoint);
      return isPassedThrough || !this.#wanted.isPromised(slug, list);
    }
    if (method !== RESOURCE_UPDATED) return true;
    const uri = params?.uri;
    if (typeof uri !== "string") return false;
    const topic = topicOf(uri);
    return this.#wanted.wants(slug, topic) && this.#deduplicator.isNew(`${slug} ${topic}`, "own");
  }

  /** The client listens, or listens again. */
  listened({ isAgain = false, hasMissed: hasLost = false }: Listening = {}): void {
    this.#wanted.listen(this.#options.isSilent());
    // The life in which it listened first may have ended before anything was promised, or even asked for.
    this.#isLate ||= isAgain && this.#wanted.hasNoPromise;
    if (hasLost && this.isWatching) this.#inbox.goOffline();
    const hasMissed = this.#inbox.listened();
    if (!this.#wanted.isEmpty || hasMissed) this.#renew(hasMissed);
  }

  /**
   * The servers of the endpoint are others now: the client is told, once for each version of them, that its lists
   * may have changed.
   */
  serversChanged(): void {
    this.#noteServers();
    if (!this.#wanted.listens) return;
    this.#wanted.listen(this.#options.isSilent());
    if (this.#wanted.takeServers()) this.#tellOfServers();
    if (this.isWatching) this.#renew(false);
  }

  /** In the turn in which that is noted. */
  #tellOfServers(): void {
    this.#hasToldOfServers = true;
    this.#inbox.add(LIST_TOPICS);
    this.#save();
  }

  /**
   * The person publishes other servers now. The client of an endpoint that these join is told that its lists may
   * have changed; to others, the only server may be back.
   */
  publishedChanged(): void {
    this.#noteServers();
    if (this.#wanted.listens && this.#options.requestScope.publisher !== undefined) {
      this.#wanted.listen(this.#options.isSilent());
      this.#hasToldOfServers = true;
      this.#inbox.add(LIST_TOPICS);
    }
    if (this.isWatching) this.#renew(false);
  }

  #noteServers(): void {
    if (!this.#wanted.serversChanged()) return;
    this.#save();
    this.#mustRenew = true;
  }

  /** A server turned out to announce nothing by itself: the fan-out announces its changes instead. */
  silenced(): void {
    if (this.#options.attributed.hasOpenStream()) this.listened();
  }

  /**
   * The client has sent a request, perhaps the first in this life of the session's Durable Object; or that was woken by
   * its alarm.
   */
  seen(): void {
    if (this.#mustRenew && !this.#inbox.isOffline) this.#renew(false);
  }

  /** The client was given lists for which a vault was not asked. It is told of them when a renewal has asked that. */
  gaveLess(): void {
    if (!this.#wanted.listens) return;
    this.#isLate = true;
    this.#noteUnreached();
    this.#save();
  }

  /** Takes news from the fan-out, which need not have more of the session's interests than this. */
  deliver(news: News): DeliveryAnswer {
    const { endpoint, publisher } = this.#options.requestScope;
    if (takeAccountNews(endpoint, news) && this.isWatching) this.#renew(false);
    // Of what its person publishes the client is told when the list of that has been read (`publishedChanged`).
    const topics = takePublisherNews(publisher, news) ? [] : [...new Set(news.topics)];
    const slug = slugOfKey(news.slug);
    const wanted = topics.filter((topic) => this.#wanted.wants(slug, topic));
    const answer = this.#inbox.take(
      news,
      wanted,
      (topic) => isListTopic(topic) || this.#deduplicator.isNew(`${slug} ${topic}`, "feed"),
    );
    if (answer === "taken") this.#answered(wanted);
    return answer;
  }

  /** The client is given a URL elicitation: it is told when its person has connected the account. */
  async asked(ask: Ask): Promise<void> {
    const topic = askTopicOf(ask);
    if (!this.#wanted.ask(topic)) return;
    this.#save();
    const subscribed = this.#add({ [ask.slug]: [topic] });
    this.#options.requestScope.waitUntil(subscribed);
    await settleWithin(subscribed, OWN_WAIT_MS);
  }

  /** The client is told of an elicitation once, in the same turn in which it is forgotten here. */
  #answered(topics: readonly Topic[]): void {
    const asks = this.#wanted.answered(topics);
    if (asks === undefined) return;
    this.#save();
    this.#options.requestScope.waitUntil(this.#remove(asks));
  }

  /** The time since which the client has not listened, if noted, in milliseconds since 1970. */
  get awaySince(): number | undefined {
    return this.#inbox.awaySince;
  }

  /** Servers are watched for this session. */
  get isWatching(): boolean {
    return !this.#wanted.isEmpty && !this.#inbox.isOffline;
  }

  /**
   * When `seen` is to be called, though the client sends nothing, since the fan-out was not reached; in milliseconds
   * since 1970. To be looked at when the subscriptions are saved.
   */
  get renewsAt(): number | undefined {
    return this.isWatching ? this.#renewsAt : undefined;
  }

  /** The client has stopped listening. @param since in milliseconds since 1970. */
  left(since: number): void {
    this.#inbox.left(since);
  }

  /** The client has not listened for long: nothing is watched for this session until it does. */
  goOffline(): void {
    if (!this.isWatching) return;
    this.#inbox.goOffline();
    this.#renewing = this.#renewing.then(async () => {
      if (this.#inbox.isOffline) await this.#interests.remove();
    });
    this.#options.requestScope.waitUntil(this.#renewing);
  }

  /** The session is over. */
  async end(): Promise<void> {
    this.#own.end();
    await this.#interests.end();
  }

  /** Says all that is wanted: what was left over at the fan-out goes, of other accounts or after what it did not get. */
  #renew(hasMissed: boolean): void {
    this.#mustRenew = false;
    this.#renewsAt = undefined;
    this.#renewing = this.#renewing
      .then(async () => {
        if (this.#wanted.takeServers()) this.#tellOfServers();
        const { uris } = this.#wanted;
        const interests = this.#wanted.interests();
        const pending = this.#wanted.pending();
        // Those of which it is told meanwhile are of the next renewal.
        const hasTold = this.#hasToldOfServers;
        this.#hasToldOfServers = false;
        const { honoured, accounts } = await this.#interests.replace(interests, pending);
        const listed = hasTold ? this.#wanted.listsOfNew(honoured ?? {}) : [];
        if (honoured === undefined) this.#hasToldOfServers ||= hasTold;
        const isOther = honoured !== undefined && this.#wanted.learn(honoured);
        const all = this.#wanted.topics();
        if (honoured === undefined) {
          this.#noteUnreached();
          // The client is told now, and once more when somebody watches: what changes in between, nobody sees.
          if (hasMissed) this.#wanted.unwatched();
          this.#isLate ||= this.#wanted.hasNoPromise;
        }
        const isNoted = this.#wanted.noteAccounts(accounts);
        const moved = [
          ...this.#wanted.changeAccounts(accounts),
          ...this.#wanted.returned(honoured ?? {}),
        ];
        const late = this.#isLate && honoured !== undefined ? this.#wanted.lists() : [];
        if (late.length > 0) this.#isLate = false;
        const isMoved = moved.length > 0;
        const isUnsaved =
          isOther || isNoted || isMoved || late.length > 0 || honoured === undefined;
        if (this.#wanted.covered(honoured, uris) || isUnsaved) this.#save();
        const unsure = new Set([...late, ...moved, ...listed]);
        if (hasMissed) this.#inbox.announceAll(all);
        else if (unsure.size > 0) this.#inbox.add([...unsure]);
      })
      .catch(logUnexpected);
    this.#options.requestScope.waitUntil(this.#renewing);
  }

  /** To be called in the turn in which the subscriptions are saved. */
  #noteUnreached(): void {
    this.#mustRenew = true;
    this.#renewsAt = Date.now() + RENEW_MS;
  }

  /** Waits for the renewal before it, which may ask for the same. */
  async #remove(interests: Interests): Promise<void> {
    await this.#renewing;
    if (!(await this.#interests.remove(interests))) this.#mustRenew = true;
  }

  #save(): void {
    const { life } = this.#interests;
    this.#savedLife = life;
    const late = this.#isLate && { isLate: true as const };
    this.#options.saveWanted({ ...this.#wanted.save(), ...late, life });
  }
}
