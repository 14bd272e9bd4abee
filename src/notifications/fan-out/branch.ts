/**
 * One branch of the fan-out: receives the news of all servers for its share of the subscribers, and
 * delivers it to each. All its state is in its rows, because a life of it can end at any time.
 */

import { shardOf } from "../../lib/fnv1a.ts";
import type { Sql } from "../../lib/sql.ts";
import type { Limits } from "../../policy/limits.ts";
import type { NewsSources, Interests, News, Topic } from "../../catalog/feeds.ts";
import { MAX_URI_CHARS } from "../source/topic-interest.ts";
import { uriOf, versionOf } from "../../catalog/topics.ts";
import { Deadlines } from "../../lib/deadlines.ts";
import { Deliveries, type Recipients } from "./deliveries.ts";
import { AcceptedNews } from "./accepted-news.ts";
import { LateNews } from "./late-news.ts";
import { type ListenerSocket, Listeners, type ListenersParts } from "./listeners.ts";
import { InterestRegistry, REFUSED_MS } from "./interest-registry.ts";
import { SessionLives } from "./session-lives.ts";
import { Kind, type ServerTopic, SubscriptionTable } from "./subscription-table.ts";

/**
 * The number of branches is fixed, so the branch of a subscriber follows from its id alone; it cannot
 * change without moving every subscription. Up to this many objects deliver one update in parallel.
 */
export const BRANCHES = 32;

/** @returns 0 to `BRANCHES` - 1. */
export function branchOf(subscriber: string): number {
  return shardOf(subscriber, BRANCHES);
}

/** @returns the name of the branch's Durable Object. */
export function branchName(branch: number): string {
  return `branch ${branch}`;
}

export interface BranchParts<Socket extends ListenerSocket> {
  readonly number: number;
  readonly sql: Sql;
  readonly feeds: NewsSources;
  readonly recipients: Recipients;
  /** The listeners that connected before this life of the branch. */
  readonly found: ListenersParts<Socket>["found"];
  readonly knows: (slug: string) => boolean;
  /**
   * Asks for the configuration anew, for a server that is not known here: an operator may have added it.
   *
   * @returns whether that has worked.
   */
  readonly learn: () => Promise<boolean>;
  readonly limits: Pick<Limits, "windowBytes" | "stallSeconds" | "subscribedUrisPerClient">;
  readonly now: () => number;
  /** Schedules a call of `wake` at this time (milliseconds since 1970) or before. */
  readonly scheduleAlarm: (at: number) => void;
  /** Keeps the Durable Object awake. */
  readonly keep: (work: Promise<void>) => void;
}

/** A branch that is lost while it delivers news is woken after this. */
const WATCHDOG_MS = 30_000;
const MIN_PAUSE_MS = 1000;
/** A topic is stored for each of its subscribers. No feed watches a longer one. */
const MAX_TOPIC_CHARS = "uri:".length + MAX_URI_CHARS;

/** What is known of the subscriber that asks. */
interface AskedBy {
  /** The number of a session's life. */
  readonly life?: number | undefined;
  /** It was granted before what it asks for. */
  readonly isRenewed?: boolean;
}

/** The topics of one server that a subscriber asks for, and those it had already. */
interface Asked {
  readonly topics: readonly Topic[];
  readonly known: ReadonlySet<Topic>;
}

export class Branch<Socket extends ListenerSocket> {
  readonly #parts: BranchParts<Socket>;
  readonly #subscriptions: SubscriptionTable;
  readonly #lives: SessionLives;
  readonly #acceptedNews: AcceptedNews;
  readonly #lateNews: LateNews;
  readonly #interests: InterestRegistry;
  readonly #deliveries: Deliveries;
  readonly listeners: Listeners<Socket>;
  /** Subscriptions whose answer is outstanding. */
  readonly #asking = new Set<string>();

  constructor(parts: BranchParts<Socket>) {
    this.#parts = parts;
    const { number, sql, feeds, recipients, found, knows, learn, limits, now } = parts;
    const { scheduleAlarm, keep } = parts;
    const deadlines = new Deadlines();
    const subscriptions = new SubscriptionTable(sql);
    this.#subscriptions = subscriptions;
    this.#lives = new SessionLives(sql);
    this.#acceptedNews = new AcceptedNews(sql);
    this.#lateNews = new LateNews(sql, now);
    this.#interests = new InterestRegistry({
      branch: number,
      sql,
      subscriptions,
      feeds,
      deadlines,
      // Who only asks for it has it not.
      isHeld: ({ slug, topic }) =>
        subscriptions
          .subscribersOf({ slug, topic })
          .some((name) => !this.#asking.has(keyOf(name, slug, topic))),
      knows,
      learn,
      now,
      scheduleAlarm,
    });
    this.listeners = new Listeners({
      found,
      subscriptions,
      now,
      windowChars: limits.windowBytes,
      stallMs: limits.stallSeconds * 1000,
      subscribe: (id, interests) => this.#subscribe(id, Kind.Listener, interests),
      onGone: (id) => this.#forget(id),
    });
    this.#deliveries = new Deliveries({
      acceptedNews: this.#acceptedNews,
      lateNews: this.#lateNews,
      recipients,
      deadlines,
      now,
      scheduleAlarm,
      keep,
      onGone: (session) => this.#forget(session),
    });
    this.#rescheduleAlarm();
  }

  /**
   * Adds to the subscriptions of a session.
   *
   * @param life of the session: once a later one has called, an earlier one changes nothing any more.
   * @returns the topics that the servers will announce. Other resources are not kept, unless the session had them.
   */
  async subscribe(session: string, interests: Interests, life?: number): Promise<Interests> {
    if (!this.#lives.begin(session, life)) return {};
    this.#deliveries.renewed(session);
    return this.#subscribe(session, Kind.Session, interests, { life });
  }

  /**
   * As `subscribe`, with all that the session wants: whatever else it has goes, of another account or after an
   * unsubscription that has not arrived. Its client was granted these: a resource whose server does not answer stays
   * promised, and one that it refuses now is kept.
   *
   * @param pending what it asks for meanwhile, and was not granted yet: it stays as it is, there or not.
   */
  async replace(
    session: string,
    interests: Interests,
    life?: number,
    pending: Interests = {},
  ): Promise<Interests> {
    if (!this.#lives.begin(session, life)) return {};
    const wanted = new Set<string>();
    for (const [slug, topics] of [...Object.entries(interests), ...Object.entries(pending)])
      for (const topic of topics) wanted.add(keyOf(session, slug, topic));
    // Before the feeds are asked: what the session subscribes to meanwhile stays.
    for (const { slug, topic } of this.#subscriptions.of(session))
      if (!wanted.has(keyOf(session, slug, topic))) this.#leave(session, slug, [topic]);
    this.#deliveries.renewed(session);
    return this.#subscribe(session, Kind.Session, interests, { life, isRenewed: true });
  }

  /** Sends no more news of these topics, or of any; news that is under way may still arrive. */
  unsubscribe(session: string, interests?: Interests, life?: number): void {
    if (!this.#lives.begin(session, life)) return;
    if (interests === undefined) this.#forget(session);
    else for (const [slug, topics] of Object.entries(interests)) this.#leave(session, slug, topics);
  }

  /** Accepts news: once this returns, every subscriber receives it, even if this life of the branch ends. */
  publish(news: News): void {
    const { slug } = news;
    if (!this.#acceptedNews.isNew(news)) return;
    const bySessions: Topic[] = [];
    const unwanted: Topic[] = [];
    for (const topic of news.topics) {
      if (this.#subscriptions.isWanted({ slug, topic }, Kind.Session)) bySessions.push(topic);
      else if (!this.#subscriptions.isWanted({ slug, topic })) unwanted.push(topic);
    }
    this.#acceptedNews.accept(news, bySessions);
    this.#interests.sendLater(slug, unwanted);
    // That there is a newer version is announced once: whoever has that version still asks anew, and is told at once.
    this.#interests.forget(
      slug,
      news.topics.filter((topic) => versionOf(topic) !== undefined),
    );
    this.listeners.deliver(news);
    if (bySessions.length === 0) return;
    this.#parts.scheduleAlarm(this.#parts.now() + WATCHDOG_MS);
    this.#deliveries.start(slug);
  }

  /** A feed has deleted what it had promised to this branch. */
  withdrawn(slug: string): void {
    this.#interests.withdrawn(slug);
  }

  /** Runs when the alarm fires. */
  async wake(): Promise<void> {
    this.#deliveries.retry();
    await this.#interests.sendDue();
    this.#rescheduleAlarm();
  }

  #rescheduleAlarm(): void {
    const { scheduleAlarm, now } = this.#parts;
    for (const at of [this.#lateNews.soonest(), this.#interests.soonest()]) {
      // An overdue entry is waiting for something else.
      if (at !== undefined) scheduleAlarm(Math.max(at, now() + MIN_PAUSE_MS));
    }
    if (!this.#acceptedNews.isEmpty) scheduleAlarm(now() + WATCHDOG_MS);
  }

  /**
   * When a feed does not answer in time, its lists count as honoured (and what is asked of a vault, which
   * refuses nothing), and so do topics to which the
   * subscriber was subscribed before: the request is repeated until the feed receives it. A new
   * resource does not: it may not exist, and a refused client can ask again. A list that its server
   * does not announce is kept without a promise: the gateway may find out by itself that it changed. So is a resource
   * that the subscriber had and its server refuses, perhaps for a moment: the feed may still have it promised, and is
   * asked again. What the subscriber has lost meanwhile, because it was gone, is not promised either.
   */
  async #subscribe(
    subscriber: string,
    kind: Kind,
    interests: Interests,
    { life, isRenewed = false }: AskedBy = {},
  ): Promise<Interests> {
    const { knows, learn } = this.#parts;
    const hasUnknown = Object.keys(interests).some((slug) => !knows(slug));
    // Where nobody can be asked, the feed knows whether there is such a server.
    const admits = !hasUnknown || (await learn()) ? knows : () => true;
    if (this.#lives.isOver(subscriber, life)) return {};
    const asked = this.#admit(subscriber, kind, interests, admits);
    const answers = await Promise.all(
      [...asked].map(async ([slug, { topics, known }]) => {
        const { honoured, unanswered } = await this.#interests.ask(slug, topics, isRenewed);
        const isHad = (topic: Topic): boolean => isRenewed || known.has(topic);
        const isPromised = (topic: Topic): boolean =>
          honoured.has(topic) || (unanswered.has(topic) && (isHad(topic) || !isResource(topic)));
        const refused = topics.filter((topic) => !isPromised(topic) && isResource(topic));
        const kept = refused.filter(isHad);
        this.#interests.sendLater(slug, kept, REFUSED_MS);
        const gone = refused.filter((topic) => !isHad(topic));
        // A later life may have been promised what was refused to this one.
        if (!this.#lives.isOver(subscriber, life)) this.#remove(subscriber, slug, gone);
        for (const topic of topics) this.#asking.delete(keyOf(subscriber, slug, topic));
        const isThere = (topic: Topic): boolean =>
          this.#subscriptions.has(subscriber, { slug, topic });
        return [slug, topics.filter((topic) => isPromised(topic) && isThere(topic))] as const;
      }),
    );
    return Object.fromEntries(answers.filter(([, topics]) => topics.length > 0));
  }

  /** Records the subscriptions before the feeds are asked, so that no news is lost in between. */
  #admit(
    subscriber: string,
    kind: Kind,
    interests: Interests,
    admits: (slug: string) => boolean,
  ): ReadonlyMap<string, Asked> {
    const { limits } = this.#parts;
    const admitted = new Map<string, Asked>();
    let uris: number | undefined;
    for (const [slug, wanted] of Object.entries(interests)) {
      if (!admits(slug)) continue;
      const topics: Topic[] = [];
      const known = new Set<Topic>();
      for (const topic of new Set(wanted)) {
        const want: ServerTopic = { slug, topic };
        const key = keyOf(subscriber, slug, topic);
        const isThere = this.#subscriptions.has(subscriber, want);
        if (isThere && !this.#asking.has(key)) known.add(topic);
        if (!isThere && isResource(topic)) {
          uris ??= this.#subscriptions.uriCount(subscriber);
          if (uris >= limits.subscribedUrisPerClient || topic.length > MAX_TOPIC_CHARS) continue;
          uris += 1;
        }
        if (!isThere) {
          this.#subscriptions.add(subscriber, kind, want);
          this.#asking.add(key);
        }
        topics.push(topic);
      }
      admitted.set(slug, { topics, known });
    }
    return admitted;
  }

  #leave(session: string, slug: string, topics: readonly Topic[]): void {
    for (const topic of topics) this.#lateNews.withdraw(session, slug, topic);
    this.#remove(session, slug, topics);
  }

  #remove(subscriber: string, slug: string, topics: readonly Topic[]): void {
    const unwanted = topics.filter((topic) =>
      this.#subscriptions.remove(subscriber, { slug, topic }),
    );
    this.#interests.sendLater(slug, unwanted);
  }

  #forget(subscriber: string): void {
    this.#lateNews.forget(subscriber);
    this.#lives.forget(subscriber);
    for (const { slug, topic } of this.#subscriptions.forget(subscriber))
      this.#interests.sendLater(slug, [topic]);
  }
}

function isResource(topic: Topic): boolean {
  return uriOf(topic) !== undefined;
}

function keyOf(subscriber: string, slug: string, topic: Topic): string {
  return `${subscriber} ${slug} ${topic}`;
}
