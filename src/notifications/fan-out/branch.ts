/**
 * One branch of the fan-out: hears of all servers for its share of the subscribers, and carries the
 * news to each. Whatever it has to remember is in its rows; a life of it can end at any time.
 */

import type { Sql } from "../../lib/sql.ts";
import type { Limits } from "../../policy/limits.ts";
import type { Feeds, Interests, News, Topic } from "../../catalog/feeds.ts";
import { MAX_URI_CHARS } from "../source/wanted-uri.ts";
import { isListTopic } from "../../catalog/topics.ts";
import { Deadlines } from "../../lib/deadlines.ts";
import { Deliveries, type Recipients } from "./deliveries.ts";
import { Outbox } from "./outbox.ts";
import { RetryQueue } from "./retry-queue.ts";
import type { ListenerSocket, Seat } from "./listener.ts";
import { Listeners } from "./listeners.ts";
import { InterestRegistry } from "./interest-registry.ts";
import { Kind, type Want, SubscriptionTable } from "./subscription-table.ts";

export interface BranchParts<Socket extends ListenerSocket> {
  readonly number: number;
  readonly sql: Sql;
  readonly feeds: Feeds;
  readonly recipients: Recipients;
  /** The listeners that were there before this life of the branch. */
  readonly found: readonly { readonly socket: Socket; readonly seat: Seat | undefined }[];
  readonly knows: (slug: string) => boolean;
  readonly limits: Pick<Limits, "windowBytes" | "stallSeconds" | "subscribedUrisPerClient">;
  readonly now: () => number;
  /** Has `wake` called at this time, or before. */
  readonly scheduleAlarm: (at: number) => void;
  /** Keeps the holder awake. */
  readonly keep: (work: Promise<void>) => void;
  readonly times?: Partial<Times>;
}

interface Times {
  /** How long a subscriber waits for what one feed says of lists, and of resources. */
  readonly listsMs: number;
  readonly urisMs: number;
  /** How long a session may take to take news. */
  readonly handMs: number;
  /** How long nobody moves before those that are called are taken for stuck. */
  readonly stuckMs: number;
  readonly tickMs: number;
}

const TIMES: Times = {
  ...{ listsMs: 3000, urisMs: 6000 },
  ...{ handMs: 10_000, stuckMs: 1500, tickMs: 250 },
};
/** A branch that is lost while it hands out news is woken after this. */
const WATCHDOG_MS = 30_000;
const MIN_PAUSE_MS = 1000;
/** Each is kept for each subscriber. No feed watches one that is longer. */
const MAX_TOPIC_CHARS = "uri:".length + MAX_URI_CHARS;

/** What a subscriber asks for of one server, and what of it is nothing new. */
interface Asked {
  readonly topics: readonly Topic[];
  readonly known: ReadonlySet<Topic>;
}

export class Branch<Socket extends ListenerSocket> {
  readonly #parts: BranchParts<Socket>;
  readonly #subscriptions: SubscriptionTable;
  readonly #outbox: Outbox;
  readonly #retryQueue: RetryQueue;
  readonly #interests: InterestRegistry;
  readonly #deliveries: Deliveries;
  readonly listeners: Listeners<Socket>;
  /** What subscribers have asked for, and have had no answer about. */
  readonly #asking = new Set<string>();

  constructor(parts: BranchParts<Socket>) {
    this.#parts = parts;
    const {
      number,
      sql,
      feeds,
      recipients,
      found,
      knows,
      limits,
      now,
      scheduleAlarm: ring,
      keep,
    } = parts;
    const { listsMs, urisMs, handMs, stuckMs, tickMs } = { ...TIMES, ...parts.times };
    const deadlines = new Deadlines(tickMs);
    const subscriptions = new SubscriptionTable(sql);
    this.#subscriptions = subscriptions;
    this.#outbox = new Outbox(sql);
    this.#retryQueue = new RetryQueue(sql, now);
    this.#interests = new InterestRegistry({
      ...{
        branch: number,
        sql,
        subscriptions,
        feeds,
        deadlines,
        listsMs,
        urisMs,
        knows,
        now,
        scheduleAlarm: ring,
      },
    });
    this.listeners = new Listeners({
      ...{ found, subscriptions, now, windowChars: limits.windowBytes },
      stallMs: limits.stallSeconds * 1000,
      subscribe: (id, interests) => this.#subscribe(id, Kind.Listener, interests),
      onGone: (id) => this.#forget(id),
    });
    this.#deliveries = new Deliveries({
      ...{ due: this.#outbox, late: this.#retryQueue, recipients, deadlines, handMs, stuckMs },
      ...{ now, scheduleAlarm: ring, keep, onGone: (session) => this.#forget(session) },
    });
    this.#ringAgain();
  }

  /**
   * Adds to what a session hears of.
   *
   * @returns what the servers will tell of. Other resources are not kept.
   */
  subscribe(session: string, interests: Interests): Promise<Interests> {
    this.#deliveries.renewed(session);
    return this.#subscribe(session, Kind.Session, interests);
  }

  /** No news of it goes out from here on; what is under way may still arrive. */
  unsubscribe(session: string, interests?: Interests): void {
    if (interests === undefined) {
      this.#forget(session);
      return;
    }
    for (const [slug, topics] of Object.entries(interests)) {
      for (const topic of topics) this.#retryQueue.remove(session, slug, topic);
      this.#remove(session, slug, topics);
    }
  }

  /** Takes news: when this returns, it is told to whoever wants it, whatever happens. */
  publish(news: News): void {
    const { slug } = news;
    if (!this.#outbox.isNew(news)) return;
    const bySessions: Topic[] = [];
    const unwanted: Topic[] = [];
    for (const topic of news.topics) {
      if (this.#subscriptions.isWanted({ slug, topic }, Kind.Session)) bySessions.push(topic);
      else if (!this.#subscriptions.isWanted({ slug, topic })) unwanted.push(topic);
    }
    this.#outbox.accept(news, bySessions);
    this.#interests.doubt(slug, unwanted);
    this.listeners.tell(news);
    if (bySessions.length === 0) return;
    this.#parts.scheduleAlarm(this.#parts.now() + WATCHDOG_MS);
    this.#deliveries.start(slug);
  }

  /** The time has come that was rung for. */
  async wake(): Promise<void> {
    this.#deliveries.retry();
    await this.#interests.settle();
    this.#ringAgain();
  }

  #ringAgain(): void {
    const { scheduleAlarm: ring, now } = this.#parts;
    for (const at of [this.#retryQueue.soonest(), this.#interests.soonest()]) {
      // What is overdue is waiting for something else.
      if (at !== undefined) ring(Math.max(at, now() + MIN_PAUSE_MS));
    }
    if (!this.#outbox.isEmpty) ring(now() + WATCHDOG_MS);
  }

  /**
   * Of a feed that does not answer in time, the lists count as honoured, and so does what the
   * subscriber heard of before: the feed is told until it has heard. Another resource does not: it
   * may not exist, and whoever is told so can ask again. A list that its server does not tell of is
   * kept, though nothing is promised: the gateway may find out by itself that it has changed.
   */
  async #subscribe(subscriber: string, kind: Kind, interests: Interests): Promise<Interests> {
    const asked = this.#admit(subscriber, kind, interests);
    const answers = await Promise.all(
      [...asked].map(async ([slug, { topics, known }]) => {
        const { honoured, unanswered } = await this.#interests.ask(slug, topics);
        const isPromised = (topic: Topic): boolean =>
          honoured.has(topic) ||
          (unanswered.has(topic) && (isListTopic(topic) || known.has(topic)));
        const refused = topics.filter((topic) => !isPromised(topic) && !isListTopic(topic));
        this.#remove(subscriber, slug, refused);
        for (const topic of topics) this.#asking.delete(keyOf(subscriber, slug, topic));
        return [slug, topics.filter(isPromised)] as const;
      }),
    );
    return Object.fromEntries(answers.filter(([, topics]) => topics.length > 0));
  }

  /** Notes what a subscriber wants, before anybody is asked: so no news falls in between. */
  #admit(subscriber: string, kind: Kind, interests: Interests): ReadonlyMap<string, Asked> {
    const { knows, limits } = this.#parts;
    const admitted = new Map<string, Asked>();
    let uris: number | undefined;
    for (const [slug, wanted] of Object.entries(interests)) {
      if (!knows(slug)) continue;
      const topics: Topic[] = [];
      const known = new Set<Topic>();
      for (const topic of new Set(wanted)) {
        const want: Want = { slug, topic };
        const key = keyOf(subscriber, slug, topic);
        const isThere = this.#subscriptions.has(subscriber, want);
        if (isThere && !this.#asking.has(key)) known.add(topic);
        if (!isThere && !isListTopic(topic)) {
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

  #remove(subscriber: string, slug: string, topics: readonly Topic[]): void {
    const unwanted = topics.filter((topic) =>
      this.#subscriptions.remove(subscriber, { slug, topic }),
    );
    this.#interests.doubt(slug, unwanted);
  }

  #forget(subscriber: string): void {
    this.#retryQueue.forget(subscriber);
    for (const { slug, topic } of this.#subscriptions.forget(subscriber))
      this.#interests.doubt(slug, [topic]);
  }
}

function keyOf(subscriber: string, slug: string, topic: Topic): string {
  return `${subscriber} ${slug} ${topic}`;
}
