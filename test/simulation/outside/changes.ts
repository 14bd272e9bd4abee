/**
 * The model of notifications: what changed, who is promised to hear of it, and what those know who read again
 * only when they hear something. A subscriber who has missed a change ends with an old version.
 */

interface Subscription {
  readonly client: string;
  readonly topic: string;
  /** Hears of changes on a stream that cannot be taken up. */
  readonly isListening: boolean;
  /** The last version whose news was over when the client first asked to be told. */
  readonly since: number;
  isPromised: boolean;
  /** How often the client was told. */
  heard: number;
  /** More often than anything had changed. */
  isTooMany: boolean;
  /** The version that the client has read last; `undefined` for a list that named servers as missing. */
  known: number | undefined;
  /** The newest version that the client has ever read. */
  newest: number;
  /**
   * How often the client may be told besides: when servers are back that a list has named as missing, when somebody
   * was given the list of before since its server was slow, of what is under way while it listens again, on another
   * stream, when it was away for longer than anything is kept, and of what its server tells on two streams at once.
   */
  extra: number;
  /** The changes before the first promise; `undefined` until then. */
  early: number | undefined;
}

/**
 * Where something broke that hides changes, or tells what was told before: in the watch on a server, or by a clock
 * that jumps; in the stream of a client that listens, inside of the gateway; or in a session, which hears of a resource
 * on two ways once its client has called. Where the fan-out dies, the second may be later than the second within
 * which the gateway takes two reports for one.
 */
type Gap = "every" | "listening" | "session" | "fan-out";

/** The topic of the list of tools of the operator's servers: its version is the sum of theirs. */
export const TOOLS = "tools";

/** The same for what a person publishes. */
export function toolsOf(person: string): string {
  return `${TOOLS} of ${person}`;
}

function isList(topic: string): boolean {
  return topic.startsWith(TOOLS);
}

/**
 * The time for which the gateway may collect changes before it announces them. A client that subscribes within it,
 * while others are subscribed, may be told of a change that it has read already: what is under way has no date.
 */
const COLLECT_MS = { resource: 100, list: 1100 };

export class ChangeLedger {
  readonly #find: (finding: string) => void;
  readonly #now: () => number;
  readonly #slowMs: number;
  readonly #isSlow: boolean;
  /** When each version came, in milliseconds. */
  readonly #changedAt = new Map<string, number[]>();
  /** The versions of each list that came when nobody was promised to hear of them. */
  readonly #unheard = new Map<string, number[]>();
  readonly #gaps = new Set<Gap>();
  #brokenAt = -Infinity;
  readonly #callers = new Set<string>();
  /** Of each client: for how long it had no stream on which it is told, and since when it has none again. */
  readonly #absences = new Map<string, { ms: number; since: number | undefined }>();
  readonly #subscriptions = new Map<string, Subscription>();

  /**
   * @param slowMs how much longer news may take.
   * @param isSlow something takes longer than it usually does.
   */
  constructor(
    find: (finding: string) => void,
    now: () => number,
    { slowMs, isSlow }: { readonly slowMs: number; readonly isSlow: boolean },
  ) {
    this.#find = find;
    this.#now = now;
    this.#slowMs = slowMs;
    this.#isSlow = isSlow;
  }

  changed(topic: string): void {
    this.#changedAt.set(topic, [...(this.#changedAt.get(topic) ?? []), this.#now()]);
    const isHeard = [...this.#subscriptions.values()].some(
      (each) => each.topic === topic && each.isPromised,
    );
    if (isHeard || !isList(topic)) return;
    this.#unheard.set(topic, [...(this.#unheard.get(topic) ?? []), this.versionOf(topic)]);
  }

  /** Of a list: the sum of what all servers have changed. */
  versionOf(topic: string): number {
    return this.#changedAt.get(topic)?.length ?? 0;
  }

  /** How often anything has changed. */
  get count(): number {
    let count = 0;
    for (const { length } of this.#changedAt.values()) count += length;
    return count;
  }

  gap(where: Gap): void {
    this.#gaps.add(where);
    this.#brokenAt = this.#now();
  }

  /** The same from the beginning to the end of this work, which may fail. */
  async within<Result>(where: Gap, work: () => Promise<Result>): Promise<Result> {
    this.gap(where);
    try {
      return await work();
    } finally {
      this.gap(where);
    }
  }

  /** When something broke last, in milliseconds since 1970: the gateway's attempts after it count. */
  get brokenAt(): number {
    return this.#brokenAt;
  }

  /** The client's own session with the server hears of changes, too. */
  called(client: string): void {
    this.#callers.add(client);
  }

  /** The client asks to be told, and may be told from now on. */
  asked(client: string, topic: string, isListening = false): Subscription {
    const key = `${client} ${topic}`;
    let subscription = this.#subscriptions.get(key);
    if (subscription === undefined) {
      subscription = {
        ...{ client, topic, isListening, since: this.#versionThatIsOver(topic), isPromised: false },
        ...{ heard: 0, isTooMany: false, known: undefined, newest: 0, extra: 0, early: undefined },
      };
      this.#subscriptions.set(key, subscription);
    } else if (isListening)
      subscription.extra += this.versionOf(topic) - this.#versionThatIsOver(topic);
    return subscription;
  }

  /** The gateway has said that it will tell. */
  promised(client: string, topic: string): void {
    const subscription = this.asked(client, topic);
    subscription.early ??= this.versionOf(topic) - subscription.since;
    subscription.isPromised = true;
  }

  /** The client has no stream on which it is told. */
  left(client: string): void {
    const { ms } = this.#absences.get(client) ?? { ms: 0 };
    this.#absences.set(client, { ms, since: this.#now() });
  }

  /** The client has a stream again, or wants none any more. @returns for how long it had none, in milliseconds. */
  returned(client: string): number {
    const { ms = 0, since = this.#now() } = this.#absences.get(client) ?? {};
    const awayMs = this.#now() - since;
    this.#absences.set(client, { ms: ms + awayMs, since: undefined });
    return awayMs;
  }

  /** How long one of the clients has had no stream, in all: so much later may it know of a change. */
  get mostAwayMs(): number {
    const now = this.#now();
    const all = [...this.#absences.values()].map(({ ms, since = now }) => ms + now - since);
    return Math.max(0, ...all);
  }

  /**
   * The client takes up its stream, perhaps before the gateway knows which lists are promised to it: when it does, it
   * announces them.
   */
  listensAgain(client: string): void {
    this.#allowOneMore(
      (each) => each.client === client && each.early === undefined && isList(each.topic),
    );
  }

  /** The client may be told of everything once more. */
  mayBeToldAgain(client: string): void {
    this.#allowOneMore((each) => each.client === client);
  }

  /**
   * The server tells the gateway on two streams, while one takes the place of the other. A list is announced once, where
   * the two come within the tenth of a second for which the gateway waits.
   */
  toldTwice(topic: string): void {
    if (isList(topic) && !this.#isSlow) return;
    this.#allowOneMore((each) => each.topic === topic);
  }

  promisedTo(client: string): readonly string[] {
    const all = [...this.#subscriptions.values()];
    return all.flatMap((each) => (each.client === client && each.isPromised ? [each.topic] : []));
  }

  /** The client does not listen any longer, or cannot. */
  ended(client: string, topic: string): void {
    this.asked(client, topic).isPromised = false;
  }

  heard(client: string, topic: string): void {
    const subscription = this.#subscriptions.get(`${client} ${topic}`);
    if (subscription === undefined) {
      this.#find(`${client} is told of ${topic}, for which it never asked`);
      return;
    }
    subscription.heard += 1;
    // A session also announces its lists once for each version of the gateway's servers, which has one here.
    const others = isList(topic) ? 1 : 0;
    const changes = this.versionOf(topic) - subscription.since;
    // Its own session with the server announces the list until the session knows that the fan-out does.
    const hasOwn = isList(topic) && this.#callers.has(client);
    const early = hasOwn ? (subscription.early ?? changes) : 0;
    // The gateway reads a list again once it watches the server, and announces what had come in between.
    const unheard = this.#unheard.get(topic) ?? [];
    const found = unheard.filter((version) => version <= subscription.since).length;
    if (subscription.heard > changes + others + early + found + subscription.extra)
      subscription.isTooMany = true;
  }

  /**
   * The client has read the topic.
   *
   * @param version `undefined` for a list that names servers as missing, and whose client is told when they are back.
   */
  knows(client: string, topic: string, version: number | undefined): void {
    const subscription = this.asked(client, topic);
    subscription.known = version;
    if (version === undefined) subscription.extra += 1;
    else if (version < subscription.newest)
      this.#find(`${client} reads version ${version} of ${topic}, after ${subscription.newest}`);
    else subscription.newest = version;
    // Whoever was given the list of before is told when it has been read, and so is everybody else.
    const isOld = isList(topic) && version !== undefined && version < this.versionOf(topic);
    if (isOld) this.#allowOneMore((each) => each.topic === topic);
  }

  /** Everybody, or this client, knows the newest of what is promised to it. */
  isSettled(client?: string): boolean {
    return [...this.#subscriptions.values()].every(
      (each) => (client !== undefined && each.client !== client) || !this.#isBehind(each),
    );
  }

  close(): void {
    this.late();
    for (const each of this.#subscriptions.values()) {
      const { client, topic, heard, since, isListening } = each;
      const changes = this.versionOf(topic) - since;
      const hasTwoWays = !isList(topic) && this.#callers.has(client);
      const mayRepeat =
        this.#gaps.has("every") ||
        (isListening ? this.#gaps.has("listening") : !isList(topic) && this.#gaps.has("session")) ||
        (!isListening && hasTwoWays && this.#gaps.has("fan-out"));
      if (each.isTooMany && !mayRepeat)
        this.#find(`${client} was told ${heard} times of ${changes} changes of ${topic}`);
    }
  }

  /** Everybody had the time to hear of everything. */
  late(): void {
    for (const each of this.#subscriptions.values()) {
      if (!this.#isBehind(each)) continue;
      const { client, topic, known } = each;
      this.#find(
        `${client} missed a change of ${topic}: knows ${known}, it is ${this.versionOf(topic)}`,
      );
    }
  }

  #allowOneMore(isMeant: (subscription: Subscription) => boolean): void {
    for (const each of this.#subscriptions.values()) if (isMeant(each)) each.extra += 1;
  }

  /** @returns the last version whose news is over. */
  #versionThatIsOver(topic: string): number {
    const collectMs = isList(topic) ? COLLECT_MS.list : COLLECT_MS.resource;
    const before = this.#now() - collectMs - this.#slowMs;
    return (this.#changedAt.get(topic) ?? []).filter((at) => at < before).length;
  }

  #isBehind({ topic, isPromised, known }: Subscription): boolean {
    return isPromised && known !== this.versionOf(topic);
  }
}
