/**
 * The interests of a branch as the feeds know them. Each life of the branch sends them anew as they
 * are asked for, which wakes feeds after a restart. An interest that no subscriber has any more is
 * withdrawn after a while, since a subscriber that leaves is often back at once. A change that a feed
 * may not have received stays on record until it has.
 */

import { Outbox } from "../../lib/outbox.ts";
import type { Sql } from "../../lib/sql.ts";
import {
  LIST_TOPICS,
  type NewsSources,
  type Topic,
  type TopicChange,
} from "../../catalog/feeds.ts";
import { isListTopic } from "../../catalog/topics.ts";
import type { Deadlines } from "../../lib/deadlines.ts";
import type { ServerTopic, SubscriptionTable } from "./subscription-table.ts";
import { UnsentChanges } from "./unsent-changes.ts";

export interface InterestRegistryParts {
  readonly branch: number;
  readonly sql: Sql;
  readonly subscriptions: SubscriptionTable;
  readonly feeds: NewsSources;
  readonly deadlines: Deadlines;
  /** @returns whether the endpoint has this server. */
  readonly knows: (slug: string) => boolean;
  /** Asks for the servers anew. @returns whether that has worked. */
  readonly learn: () => Promise<boolean>;
  /** @returns whether any subscriber has the topic already, and may have missed changes of it. */
  readonly isHeld: (want: ServerTopic) => boolean;
  readonly now: () => number;
  readonly scheduleAlarm: (at: number) => void;
}

/** The longest wait of a subscriber for one feed's answer about lists, and about resources. */
const LISTS_MS = 3000;
const URIS_MS = 6000;
const LEAVE_MS = 30_000;
/** Pause after a feed did not answer; meanwhile its lists count as honoured. */
const SILENT_MS = 5000;
/** Pause after a server refused a resource that subscribers were promised. */
export const REFUSED_MS = 300_000;
/** A server that does not announce changes of a list may do so after its next restart. */
const UNANNOUNCED_MS = 60_000;

const NONE: ReadonlySet<Topic> = new Set();

export interface InterestVerdict {
  /** Those of the topics that the server will announce. */
  readonly honoured: ReadonlySet<Topic>;
  /** Topics without an answer of the feed. They are sent again until it has received them. */
  readonly unanswered: ReadonlySet<Topic>;
}

type Answer = Promise<ReadonlySet<Topic> | undefined>;
interface Removal {
  readonly topics: ReadonlySet<Topic>;
  readonly over: Promise<unknown>;
}

export class InterestRegistry {
  readonly #parts: InterestRegistryParts;
  /** Topics that this life has sent to the feeds, and that their servers will announce. */
  readonly #interests = new Map<string, Set<Topic>>();
  /** Lists that a feed knows are wanted, but whose server does not announce them; and until when. */
  readonly #unannounced = new Map<string, number>();
  readonly #asked = new Map<string, Answer>();
  readonly #removals = new Map<string, Removal>();
  readonly #rows: UnsentChanges;
  readonly #outbox: Outbox<string, readonly Topic[]>;

  constructor(parts: InterestRegistryParts) {
    this.#parts = parts;
    this.#rows = new UnsentChanges(parts.sql, parts.now);
    this.#outbox = new Outbox({
      rows: this.#rows,
      deliver: (slug, topics) => this.#send(slug, topics),
    });
  }

  /**
   * Asks a feed to listen for these topics. Waits for its answer, at most `LISTS_MS` or `URIS_MS`.
   *
   * @param isRenewed the subscriber was granted the topics before.
   */
  async ask(slug: string, topics: readonly Topic[], isRenewed = false): Promise<InterestVerdict> {
    const promised = this.#interestsOf(slug);
    // What is withdrawn while the rest is asked for stays promised here: it is asked for again as late.
    const honoured = new Set(topics.filter((topic) => promised.has(topic)));
    const now = this.#parts.now();
    const isUnannounced = (topic: Topic): boolean =>
      (this.#unannounced.get(key(slug, topic)) ?? -Infinity) > now;
    const rest = topics.filter((topic) => !honoured.has(topic) && !isUnannounced(topic));
    if (rest.length === 0) return { honoured, unanswered: NONE };
    const removal = this.#removals.get(slug);
    if (rest.some((topic) => removal?.topics.has(topic))) await removal?.over;
    for (const topic of rest) if (promised.has(topic)) honoured.add(topic);
    const fresh = rest.filter(
      (topic) => !honoured.has(topic) && !this.#asked.has(key(slug, topic)),
    );
    if (fresh.length > 0) this.#begin(slug, fresh, isRenewed);
    const answers = new Map(rest.map((topic) => [topic, this.#asked.get(key(slug, topic))]));
    const unanswered = new Set<Topic>();
    for (const [topic, answer] of answers) {
      if (answer === undefined) continue;
      const received = await answer;
      if (received === undefined) unanswered.add(topic);
      else if (received.has(topic)) honoured.add(topic);
    }
    return { honoured, unanswered };
  }

  /**
   * The feed has deleted what it had promised, and does not know the branch any more. As after no answer, it is
   * asked again until it has received what is wanted.
   */
  withdrawn(slug: string): void {
    this.#interestsOf(slug).clear();
    for (const list of LIST_TOPICS) this.#unannounced.delete(key(slug, list));
    this.sendLater(slug, this.#parts.subscriptions.topicsAt(slug), SILENT_MS);
  }

  /** Of these topics nothing more is announced to those who ask for them from now on. */
  forget(slug: string, topics: readonly Topic[]): void {
    const honoured = this.#interestsOf(slug);
    for (const topic of topics) honoured.delete(topic);
  }

  /** The feed may be wrong about these topics: after `inMs` it learns which of them are wanted then. */
  sendLater(slug: string, topics: readonly Topic[], inMs = LEAVE_MS): void {
    if (topics.length === 0) return;
    const at = this.#parts.now() + inMs;
    for (const topic of topics) this.#rows.append(slug, topic, at);
    this.#parts.scheduleAlarm(at);
  }

  /** Sends the feeds every change that is due. */
  sendDue(): Promise<void> {
    return this.#outbox.deliverDue();
  }

  /** @returns the time at which the next change is due, in milliseconds since 1970. */
  soonest(): number | undefined {
    return this.#rows.soonest();
  }

  /** Reports to a feed which of these topics are wanted now. @returns whether it has received that. */
  async #send(slug: string, doubtful: readonly Topic[]): Promise<boolean> {
    const { branch, subscriptions, feeds, deadlines, knows, learn } = this.#parts;
    const honoured = this.#interestsOf(slug);
    const add: Topic[] = [];
    const remove: Topic[] = [];
    const isAsked = (topic: Topic): boolean => this.#asked.has(key(slug, topic));
    // Of what is being asked for, the feed could carry out the two in any order, and answer them in another.
    this.sendLater(slug, doubtful.filter(isAsked));
    for (const topic of doubtful) {
      if (isAsked(topic)) continue;
      if (!subscriptions.isWanted({ slug, topic })) remove.push(topic);
      // Nobody may have wanted the topic meanwhile, and the feed may have lost what it had promised.
      else add.push(topic);
    }
    for (const topic of remove) {
      honoured.delete(topic);
      this.#unannounced.delete(key(slug, topic));
    }
    if (add.length + remove.length === 0) return true;
    if (!knows(slug) && (await learn()) && !knows(slug)) return true;
    const change = feeds.of(slug).watch(branch, { add, remove, isLate: true });
    const answer = deadlines.within(change, URIS_MS).catch(() => undefined);
    this.#removals.set(slug, { topics: new Set(remove), over: answer });
    const topics = await answer;
    this.#removals.delete(slug);
    // The feed may still carry it out, after a subscriber has asked for the same again.
    if (topics === undefined) void change.catch(() => []).then(() => this.#sendAgain(slug, remove));
    // Its server may have gone meanwhile.
    if (topics === undefined) return (await learn()) && !knows(slug);
    const received = new Set(topics);
    const refused = add.filter((topic) => !received.has(topic));
    for (const topic of refused) honoured.delete(topic);
    for (const topic of received) honoured.add(topic);
    // The feed keeps a list that its server refuses. A resource it forgets, and somebody may have been promised that.
    this.sendLater(
      slug,
      refused.filter((topic) => !isListTopic(topic)),
      REFUSED_MS,
    );
    return true;
  }

  #sendAgain(slug: string, topics: readonly Topic[]): void {
    const honoured = this.#interestsOf(slug);
    const again = topics.filter((topic) => honoured.delete(topic));
    this.sendLater(slug, again, 0);
  }

  /** A feed that was to be asked again later, as late, is asked as late now: it tells of that only once. */
  #begin(slug: string, fresh: readonly Topic[], isRenewed: boolean): void {
    const doubtful = this.#rows.at(slug);
    const mayMiss = (topic: Topic): boolean =>
      doubtful.has(topic) && this.#parts.isHeld({ slug, topic });
    for (const [isLate, add] of Map.groupBy(fresh, mayMiss)) {
      const answer = this.#watch(slug, { add, remove: [], isRenewed, isLate });
      for (const topic of add) this.#asked.set(key(slug, topic), answer);
    }
  }

  async #watch(slug: string, asked: TopicChange): Answer {
    const { branch, feeds, deadlines, now } = this.#parts;
    const { add } = asked;
    const change = feeds.of(slug).watch(branch, asked);
    const ms = add.every(isListTopic) ? LISTS_MS : URIS_MS;
    const received = await deadlines.within(change, ms).catch(() => undefined);
    for (const topic of add) this.#asked.delete(key(slug, topic));
    if (received === undefined) {
      this.sendLater(slug, add, SILENT_MS);
      // The feed may still carry it out, when no subscriber wants it any more.
      void change.catch(() => []).then(() => this.sendLater(slug, add));
      return undefined;
    }
    const honoured = this.#interestsOf(slug);
    const isReceived = new Set(received);
    for (const topic of received) honoured.add(topic);
    for (const topic of add) {
      if (!isListTopic(topic) || isReceived.has(topic)) continue;
      this.#unannounced.set(key(slug, topic), now() + UNANNOUNCED_MS);
    }
    return isReceived;
  }

  #interestsOf(slug: string): Set<Topic> {
    const found = this.#interests.get(slug) ?? new Set();
    this.#interests.set(slug, found);
    return found;
  }
}

function key(slug: string, topic: Topic): string {
  return `${slug} ${topic}`;
}
