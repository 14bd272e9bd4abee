/**
 * What people publish, as this isolate knows it: read from a person's object when it is used, and again once
 * it is some seconds old, so that a busy person costs a call every few seconds. Nobody waits for that but
 * where it is old.
 */

import { BoundedCache } from "../lib/bounded-cache.ts";
import { logUnexpected } from "../observability/unexpected.ts";
import { NOTHING_PUBLISHED, type PublishedList, type Publishers } from "./publisher.ts";

const FRESH_MS = 5000;
/** A list that is older than this is not used. */
export const LIST_USED_MS = 10_000;
const MAX_PEOPLE = 1000;

interface Held {
  readonly list: PublishedList;
  /** When it was read. */
  readonly at: number;
  /** Its place among all readings, and all news that something has changed. */
  readonly turn: number;
  isRenewing: boolean;
}

export interface KnownServersOptions {
  readonly publishers: Publishers;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export class KnownServers {
  readonly #publishers: Publishers;
  readonly #now: () => number;
  readonly #held = new BoundedCache<Held>({ maxEntries: MAX_PEOPLE });
  #turns = 0;

  constructor({ publishers, now = () => Date.now() }: KnownServersOptions) {
    this.#publishers = publishers;
    this.#now = now;
  }

  /**
   * @param name of a server that is asked for: where it is not known yet, the person's object is asked.
   * @param waitUntil takes the work that the answer does not wait for.
   * @returns what was known last, or nothing, while a person's object cannot be asked: their other servers are
   *   served meanwhile.
   */
  async of(
    person: string,
    name: string | undefined,
    waitUntil: (work: Promise<unknown>) => void,
  ): Promise<PublishedList> {
    const held = this.#held.get(person);
    const ageMs = held === undefined ? Infinity : this.#now() - held.at;
    const isMissing = name !== undefined && held?.list.servers.every((one) => one.name !== name);
    if (held === undefined || ageMs >= LIST_USED_MS || isMissing === true)
      return this.#read(person);
    if (ageMs >= FRESH_MS && !held.isRenewing) {
      held.isRenewing = true;
      waitUntil(this.#read(person));
    }
    return held.list;
  }

  /** It is known here that the list has changed: a reading that has begun before does not count. */
  forget(person: string): void {
    const { list = NOTHING_PUBLISHED } = this.#held.get(person) ?? {};
    this.#held.set(person, { list, at: -Infinity, turn: ++this.#turns, isRenewing: false });
  }

  async #read(person: string): Promise<PublishedList> {
    const turn = ++this.#turns;
    try {
      const list = await this.#publishers.of(person).list();
      const held = this.#held.get(person);
      // One object stands for each version, so that what is derived from it can be kept by it.
      const same =
        held?.list.version === list.version && isSame(held.list, list) ? held.list : list;
      if (held === undefined || held.turn < turn) {
        this.#held.set(person, { list: same, at: this.#now(), turn, isRenewing: false });
      }
      return same;
    } catch (error) {
      logUnexpected(error); // the object restarts
      const held = this.#held.get(person);
      if (held !== undefined) held.isRenewing = false;
      return held?.list ?? NOTHING_PUBLISHED;
    }
  }
}

function isSame(one: PublishedList, other: PublishedList): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
