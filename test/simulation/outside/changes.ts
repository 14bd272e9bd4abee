/**
 * The model of notifications: what changed, who is promised to hear of it, and what those know who read again
 * only when they hear something. A subscriber who has missed a change ends with an old version.
 */

interface Subscription {
  readonly client: string;
  readonly topic: string;
  /** Hears of changes on a stream that cannot be taken up. */
  readonly isListening: boolean;
  /** The version when the client first asked to be told. */
  readonly since: number;
  isPromised: boolean;
  /** How often the client was told. */
  heard: number;
  /** More often than anything had changed. */
  isTooMany: boolean;
  /** The version that the client has read last. */
  known: number | undefined;
}

/**
 * Where something broke that hides changes, or tells what was told before: in the watch on a server, or by a clock
 * that jumps; in the stream of a client that listens, inside of the gateway; or in a session, which hears of a resource
 * on two ways.
 */
type Gap = "every" | "listening" | "session";

/** The topic of the list of tools: its version is the sum of those of all servers. */
export const TOOLS = "tools";

export class ChangeLedger {
  readonly #find: (finding: string) => void;
  readonly #versions = new Map<string, number>();
  readonly #gaps = new Set<Gap>();
  readonly #subscriptions = new Map<string, Subscription>();

  constructor(find: (finding: string) => void) {
    this.#find = find;
  }

  /** Of a list: the sum of what all servers have changed. */
  changed(topic: string): void {
    this.#versions.set(topic, this.versionOf(topic) + 1);
  }

  versionOf(topic: string): number {
    return this.#versions.get(topic) ?? 0;
  }

  gap(where: Gap): void {
    this.#gaps.add(where);
  }

  /** The client asks to be told, and may be told from now on. */
  asked(client: string, topic: string, isListening = false): Subscription {
    const key = `${client} ${topic}`;
    let subscription = this.#subscriptions.get(key);
    if (subscription === undefined) {
      const since = this.versionOf(topic);
      subscription = {
        ...{ client, topic, isListening, since, isPromised: false },
        ...{ heard: 0, isTooMany: false, known: undefined },
      };
      this.#subscriptions.set(key, subscription);
    }
    return subscription;
  }

  /** The gateway has said that it will tell. */
  promised(client: string, topic: string): void {
    this.asked(client, topic).isPromised = true;
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
    const others = topic === TOOLS ? 1 : 0;
    const changes = this.versionOf(topic) - subscription.since + others;
    if (subscription.heard > changes) subscription.isTooMany = true;
  }

  /** The client has read the topic. */
  knows(client: string, topic: string, version: number): void {
    const subscription = this.asked(client, topic);
    if (version < (subscription.known ?? 0))
      this.#find(`${client} reads version ${version} of ${topic}, after ${subscription.known}`);
    subscription.known = version;
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
      const mayRepeat =
        this.#gaps.has("every") ||
        (isListening ? this.#gaps.has("listening") : topic !== TOOLS && this.#gaps.has("session"));
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

  #isBehind({ topic, isPromised, known }: Subscription): boolean {
    return isPromised && known !== this.versionOf(topic);
  }
}
