/**
 * The subscriptions of a session: the resources that its client has subscribed to, each at the server
 * that has it, and, once the client listens, the lists of all servers, unless a single server
 * announces them by itself.
 */

import type { RequestScope } from "../../catalog/request-scope.ts";
import { serverOf } from "../../endpoint/endpoint.ts";
import { hasAccounts } from "../../endpoint/personal-endpoint.ts";
import { type Interests, LIST_TOPICS, type Topic } from "../../catalog/feeds.ts";
import { mayKeep } from "../../catalog/uris/judge-uri.ts";
import { dropOldest } from "../../lib/drop-oldest.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import { errorReply, type Reply } from "../../protocol/json-rpc.ts";
import {
  askOf,
  isListTopic,
  type ListTopic,
  topicOf,
  uriOf,
  versionTopicOf,
} from "../../catalog/topics.ts";
import { SERVERS_KEY } from "../../upstream/server-key.ts";
import { type AccountKeys, NO_ACCOUNT } from "../server-keys.ts";

/** Plain data. */
export interface SavedWanted {
  readonly uris: readonly (readonly [uri: string, slug: string])[];
  /** Present once the client listens: by server, the lists that it will announce. */
  readonly lists?: Interests;
  /** True for a client that listens and has no `lists`; earlier versions had it not. */
  readonly listens?: boolean;
  /** The elicitations whose end the client is to be told of; earlier versions had none. */
  readonly asks?: readonly Topic[];
  /** The resources that only the client's own sessions announced at some time; earlier versions had none. */
  readonly alone?: readonly string[];
  /** By server, the key of the account through which it last announced anything; earlier versions had none. */
  readonly accounts?: Readonly<Record<string, string>>;
  /** The servers of resources here that nothing announces at the moment; earlier versions had none. */
  readonly away?: readonly string[];
  /** The version of the servers that a client which listens was last told of; earlier versions stored none. */
  readonly version?: number;
  /** What is promised next may have changed since the client was told, or given, of it; earlier versions had it not. */
  readonly isLate?: true;
  /** The last life of the session that has asked the fan-out for anything; earlier versions numbered none. */
  readonly life?: number;
}

/** The endpoint gets and loses the servers that its person publishes. */
type SubscriptionScope = Pick<RequestScope, "endpoint" | "publisher">;

/** Limit for all URIs of a session together: they are in one row, which has room for 2 MB. */
const MAX_URI_CHARS = 256 * 1024;
/** A client that is given more elicitations is told of the newest only. */
const MAX_ASKS = 20;

export class SessionSubscriptions {
  readonly #scope: SubscriptionScope;
  /** The server of each resource. */
  readonly #uris: Map<string, string>;
  /** Those of which nobody knows yet whether the client is granted them. */
  readonly #pending = new Set<string>();
  readonly #asks: Set<Topic>;
  /**
   * The resources that only the client's own session at their server has announced for a time, since
   * messages there were last missed: `false` if the fan-out announces them as well by now.
   */
  readonly #alone: Map<string, boolean>;
  readonly #accounts: Map<string, string>;
  readonly #away: Set<string>;
  #lists: ReadonlyMap<string, readonly Topic[]> | undefined;
  #listens: boolean;
  #isListeningSaved: boolean;
  #version: number | undefined;

  constructor(scope: SubscriptionScope, saved: SavedWanted | undefined) {
    this.#scope = scope;
    this.#uris = new Map(saved?.uris);
    this.#listens = saved?.listens === true || saved?.lists !== undefined;
    this.#isListeningSaved = this.#listens;
    this.#alone = new Map(saved?.alone?.map((uri) => [uri, true]));
    this.#accounts = new Map(Object.entries(saved?.accounts ?? {}));
    this.#away = new Set(saved?.away);
    this.#version = saved?.version;
    // The configuration may have changed since.
    this.serversChanged();
    this.#asks = new Set(saved?.asks);
    if (saved?.lists !== undefined) this.#lists = new Map(Object.entries(saved.lists));
  }

  /**
   * Forgets the resources that are hidden now, and keeps those of servers that are gone: an operator may have paused
   * one, and whoever was granted a subscription there is not told that it is over.
   *
   * @returns whether there was anything to forget, or to note.
   */
  serversChanged(): boolean {
    const { endpoint } = this.#scope;
    let isChanged = false;
    for (const [uri, slug] of this.#uris) {
      const server = serverOf(endpoint, slug);
      if (server !== undefined && mayKeep(server.resources, uri)) continue;
      isChanged ||= server !== undefined || !this.#away.has(slug);
      if (server === undefined) this.#away.add(slug);
      else this.delete(uri);
    }
    return isChanged;
  }

  /**
   * Notes which servers the endpoint has now.
   *
   * @returns whether the client is to be told: it listens, and was last told of others. The life of the session in
   *   which they have changed may have ended before it was told.
   */
  takeServers(): boolean {
    const { version } = this.#scope.endpoint;
    if (!this.#listens || version === undefined || version === this.#version) return false;
    this.#version = version;
    return true;
  }

  /** Nothing is announced until a fan-out that cannot be reached has promised it. */
  unwatched(): void {
    for (const slug of this.#uris.values()) this.#away.add(slug);
    if (this.#lists !== undefined) this.#lists = new Map();
  }

  /**
   * @param honoured the topics that the servers will announce.
   * @returns the resources of servers that are back: what changed there meanwhile, nobody knows.
   */
  returned(honoured: Interests): readonly Topic[] {
    const back = [...this.#away].filter((slug) => Object.hasOwn(honoured, slug));
    for (const slug of back) this.#away.delete(slug);
    return back.flatMap((slug) => this.#grantedAt(slug).map(topicOf));
  }

  /**
   * @param most resources.
   * @returns why the client cannot subscribe to one more; `undefined` where it can, or has.
   */
  refusal(uri: string, most: number): Reply | undefined {
    if (this.#uris.has(uri)) return undefined;
    let chars = uri.length;
    for (const each of this.#uris.keys()) chars += each.length;
    if (this.#uris.size < most && chars <= MAX_URI_CHARS) return undefined;
    const message =
      this.#uris.size < most
        ? `The URIs that this session is subscribed to come to more than ${MAX_URI_CHARS} characters`
        : `This session is subscribed to ${most} resources; unsubscribe from one`;
    return errorReply(ErrorCode.InvalidParams, message, { uri });
  }

  get isEmpty(): boolean {
    const hasOwn = this.#uris.size > 0 || this.#asks.size > 0 || this.#lists !== undefined;
    return !hasOwn && this.#versionTopic === undefined;
  }

  /** The client is told of the lists of all servers, and no server has promised to announce any. */
  get hasNoPromise(): boolean {
    return this.#lists?.size === 0;
  }

  ownerOf(uri: string): string | undefined {
    return this.#uris.get(uri);
  }

  /** The client is granted the resource, or refused it, later. */
  add(uri: string, slug: string): void {
    this.#uris.set(uri, slug);
    this.#pending.add(uri);
  }

  /** The client has the resource, unless it was refused it. @returns whether that is new. */
  grant(uri: string): boolean {
    return this.#pending.delete(uri);
  }

  delete(uri: string): void {
    const slug = this.#uris.get(uri);
    this.#uris.delete(uri);
    this.#pending.delete(uri);
    this.#alone.delete(uri);
    if (slug === undefined) return;
    if (!this.#hasTopicsAt(slug)) this.#accounts.delete(slug);
    if (this.urisOf(slug).length === 0) this.#away.delete(slug);
  }

  /**
   * @param honoured the part of these resources that the fan-out announces; `undefined` without an answer.
   * @returns whether more resources than before depend on the client's own session.
   */
  covered(honoured: Interests | undefined, uris: readonly string[]): boolean {
    const announced = new Set(Object.values(honoured ?? {}).flat());
    const before = this.#alone.size;
    for (const uri of uris) {
      const isAlone = !announced.has(topicOf(uri));
      if (this.#uris.has(uri) && (isAlone || this.#alone.has(uri))) this.#alone.set(uri, isAlone);
    }
    return this.#alone.size > before;
  }

  /** @returns whether nothing but the client's own session announces some of these. */
  hasAlone(uris: readonly string[]): boolean {
    return uris.some((uri) => this.#alone.get(uri) === true);
  }

  /**
   * Messages in the client's own session were missed.
   *
   * @param uris the resources that it is subscribed to.
   * @returns those whose changes nothing else has announced.
   */
  missed(uris: readonly string[]): readonly string[] {
    const missed = uris.filter((uri) => this.#alone.has(uri));
    for (const uri of missed) if (this.#alone.get(uri) === false) this.#alone.delete(uri);
    return missed;
  }

  /**
   * Changes are announced through these accounts. Others at the same server may be announced through an earlier one.
   *
   * @returns whether that is new.
   */
  noteAccounts(accounts: AccountKeys): boolean {
    const isNew = (slug: string): boolean => !this.#accounts.has(slug) && this.#hasTopicsAt(slug);
    const fresh = [...accounts].filter(([slug]) => isNew(slug));
    for (const [slug, key] of fresh) this.#accounts.set(slug, key);
    return fresh.length > 0;
  }

  /**
   * All changes are announced through these accounts from now on.
   *
   * @returns what was announced through another account before, or through none. Nobody knows what has changed since
   *   that one ended, and a client that was told of the new one may have read since.
   */
  changeAccounts(accounts: AccountKeys): readonly Topic[] {
    return [...accounts].flatMap(([slug, key]) => {
      const before = this.#accounts.get(slug);
      if (before === undefined || before === key || key === NO_ACCOUNT) return [];
      this.#accounts.set(slug, key);
      return [...(this.#lists?.get(slug) ?? []), ...this.#grantedAt(slug).map(topicOf)];
    });
  }

  /**
   * Notes that a resource was granted through these accounts.
   *
   * @returns whether all else there is announced through another one by now: nothing announces the resource then.
   */
  noteLeftBehind(accounts: AccountKeys): boolean {
    const isOther = ([slug, key]: [string, string]): boolean =>
      (this.#accounts.get(slug) ?? key) !== key;
    const left = [...accounts].filter(isOther);
    for (const [slug] of left) this.#away.add(slug);
    return left.length > 0;
  }

  #hasTopicsAt(slug: string): boolean {
    return this.#lists !== undefined || this.urisOf(slug).length > 0;
  }

  /** The client's person was asked to connect an account. @returns whether that is new. */
  ask(topic: Topic): boolean {
    if (this.#asks.has(topic)) return false;
    this.#asks.add(topic);
    dropOldest(this.#asks, MAX_ASKS);
    return true;
  }

  /** @returns those of the topics that were asks, and are none any more; `undefined` without any. */
  answered(topics: readonly Topic[]): Interests | undefined {
    const asks = new Map<string, Topic[]>();
    for (const topic of topics) {
      const slug = askOf(topic)?.slug;
      if (slug === undefined || !this.#asks.delete(topic)) continue;
      asks.set(slug, [...(asks.get(slug) ?? []), topic]);
    }
    return asks.size === 0 ? undefined : Object.fromEntries(asks);
  }

  /**
   * The client listens.
   *
   * @param isSilent a single server mostly announces its lists in the client's own session with it;
   *   with this one there is no such session. Where there is an account, its vault announces them too.
   */
  listen(isSilent: boolean): void {
    const { endpoint, publisher } = this.#scope;
    if (!this.#listens) this.#version = endpoint.version;
    this.#listens = true;
    // Where its person publishes servers, the endpoint may have several next.
    const isTold = endpoint.isMerged || isSilent || hasAccounts(endpoint);
    if (isTold || publisher !== undefined) this.#lists ??= new Map();
  }

  /** The client is told when the servers of its endpoint are others. */
  get listens(): boolean {
    return this.#listens;
  }

  wants(slug: string, topic: Topic): boolean {
    if (isListTopic(topic)) return this.#lists !== undefined;
    const uri = uriOf(topic);
    return uri === undefined ? this.#asks.has(topic) : this.#uris.get(uri) === slug;
  }

  /** @returns whether the server has promised to announce the list. */
  isPromised(slug: string, topic: ListTopic): boolean {
    return this.#lists?.get(slug)?.includes(topic) === true;
  }

  /**
   * @param honoured the topics that the servers will announce.
   * @returns the lists of servers of which none was promised before.
   */
  listsOfNew(honoured: Interests): readonly Topic[] {
    const fresh = Object.entries(honoured).filter(([slug]) => this.#lists?.has(slug) === false);
    return fresh.flatMap(([, topics]) => topics.filter(isListTopic));
  }

  /** @param honoured the topics that the servers will announce. @returns whether they have changed. */
  learn(honoured: Interests): boolean {
    const isFirst = this.#listens && !this.#isListeningSaved;
    this.#isListeningSaved = this.#listens;
    if (this.#lists === undefined) return isFirst;
    const before = JSON.stringify([...this.#lists]);
    this.#lists = new Map(
      Object.entries(honoured).flatMap(([slug, topics]) => {
        const lists = topics.filter(isListTopic);
        return lists.length === 0 ? [] : [[slug, lists]];
      }),
    );
    return JSON.stringify([...this.#lists]) !== before;
  }

  /** Those that the client was granted, of servers that the endpoint has. */
  get uris(): readonly string[] {
    const { endpoint } = this.#scope;
    return this.#granted.flatMap(([uri, slug]) => (serverOf(endpoint, slug) ? [uri] : []));
  }

  /** Each with its server. */
  get #granted(): readonly (readonly [uri: string, slug: string])[] {
    return [...this.#uris].filter(([uri]) => !this.#pending.has(uri));
  }

  #grantedAt(slug: string): string[] {
    return this.#granted.flatMap(([uri, owner]) => (owner === slug ? [uri] : []));
  }

  urisOf(slug: string): string[] {
    return [...this.#uris].flatMap(([uri, owner]) => (owner === slug ? [uri] : []));
  }

  /** @returns the topics by server that are asked for, and not granted yet. */
  pending(): Interests {
    const uris = [...this.#uris].filter(([uri]) => this.#pending.has(uri));
    const bySlug = Map.groupBy(uris, ([, slug]) => slug);
    return Object.fromEntries(
      [...bySlug].map(([slug, its]) => [slug, its.map(([uri]) => topicOf(uri))]),
    );
  }

  /** @returns the wanted topics by server, for the fan-out, without those that are pending. */
  interests(): Interests {
    const topics = new Map<string, Topic[]>();
    for (const { slug } of this.#scope.endpoint.servers) {
      topics.set(slug, this.#lists === undefined ? [] : [...LIST_TOPICS]);
    }
    for (const [uri, slug] of this.#granted) topics.get(slug)?.push(topicOf(uri));
    for (const topic of this.#asks) topics.get(askOf(topic)?.slug ?? "")?.push(topic);
    const version = this.#versionTopic;
    if (version !== undefined) topics.set(SERVERS_KEY, [version]);
    return Object.fromEntries([...topics].filter(([, wanted]) => wanted.length > 0));
  }

  /** `undefined` where nobody can tell that the servers have changed, or nobody is to be told. */
  get #versionTopic(): Topic | undefined {
    const { version } = this.#scope.endpoint;
    return this.#listens && version !== undefined ? versionTopicOf(version) : undefined;
  }

  /** @returns every list that some server has promised to announce. */
  lists(): readonly Topic[] {
    return [...new Set([...(this.#lists?.values() ?? [])].flat())];
  }

  /** @returns every list and resource that may have changed. */
  topics(): readonly Topic[] {
    return [...this.lists(), ...this.uris.map(topicOf)];
  }

  save(): SavedWanted {
    return {
      uris: this.#granted,
      ...(this.#lists !== undefined && { lists: Object.fromEntries(this.#lists) }),
      ...(this.#listens && this.#lists === undefined && { listens: true }),
      ...(this.#version !== undefined && { version: this.#version }),
      ...(this.#asks.size > 0 && { asks: [...this.#asks] }),
      ...(this.#alone.size > 0 && { alone: [...this.#alone.keys()] }),
      ...(this.#accounts.size > 0 && { accounts: Object.fromEntries(this.#accounts) }),
      ...(this.#away.size > 0 && { away: [...this.#away] }),
    };
  }
}
