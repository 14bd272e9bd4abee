/** A client that keeps what it reads, and reads it again only when it is told to. */

import type { Actor, Json } from "./actor.ts";
import type { ChangeLedger } from "./changes.ts";
import type { ServerFacts } from "./server-facts.ts";

export interface SubscribeHabits {
  /** The resources it subscribes to; it also hears of the list of tools. */
  readonly subscribes?: number;
  /** Ends some subscriptions, and begins them again. */
  readonly wavers?: boolean;
}

/** The version that was read, or a list that names servers as missing, or as not to be asked at the moment. */
export type Reading = number | "incomplete";

const RETRY_MS = 500;
const POLL_MS = 3000;

export class Subscriber {
  readonly #actor: Actor;
  readonly #ledger: ChangeLedger;
  readonly #read: (topic: string) => Promise<Reading | undefined>;
  readonly #outdated = new Set<string>();
  readonly #reading = new Set<string>();
  #isOver = false;

  /** @param read a topic's version; `undefined` where that failed. */
  constructor(
    actor: Actor,
    ledger: ChangeLedger,
    read: (topic: string) => Promise<Reading | undefined>,
  ) {
    this.#actor = actor;
    this.#ledger = ledger;
    this.#read = read;
  }

  /** The gateway will tell when the topic changes: what it is now is read. */
  promised(topic: string): void {
    if (this.#isOver) return;
    this.#ledger.promised(this.#actor.name, topic);
    this.#refresh(topic);
  }

  heard(topic: string): void {
    this.#ledger.heard(this.#actor.name, topic);
    this.#refresh(topic);
  }

  /** Something was not heard of: everything is read again. */
  hasMissed(): void {
    for (const topic of this.#ledger.promisedTo(this.#actor.name)) this.#refresh(topic);
  }

  /** Until nothing changes any more, and the client knows the newest of all. From then on, it takes no part. */
  async settled(isDone: () => boolean): Promise<void> {
    const knowsAll = (): boolean =>
      this.#reading.size === 0 && this.#ledger.isSettled(this.#actor.name);
    while (!isDone() || !knowsAll()) await this.#actor.sleep(POLL_MS);
    this.#isOver = true;
  }

  #refresh(topic: string): void {
    if (this.#isOver) return;
    this.#outdated.add(topic);
    if (this.#reading.has(topic)) return;
    this.#reading.add(topic);
    void this.#readAgain(topic);
  }

  async #readAgain(topic: string): Promise<void> {
    while (this.#outdated.delete(topic)) {
      const reading = await this.#read(topic);
      if (reading !== undefined) {
        const version = reading === "incomplete" ? undefined : reading;
        this.#ledger.knows(this.#actor.name, topic, version);
      } else {
        this.#outdated.add(topic);
        await this.#actor.sleep(RETRY_MS);
      }
    }
    this.#reading.delete(topic);
  }
}

interface Read {
  readonly resultType?: string;
  readonly tools?: readonly { readonly name: string; readonly description?: string }[];
  readonly contents?: readonly { readonly text?: string }[];
  readonly _meta?: Json;
}

/** @returns what is in a result of `tools/list` or `resources/read`; `undefined` where there is none yet. */
export function readingIn(
  result: Read,
  { comeAndGo }: Pick<ServerFacts, "comeAndGo">,
): Reading | undefined {
  // A local server does not say which request a question belongs to, and the one that it was for may have broken.
  if (result.resultType === "input_required") return undefined;
  if (result.contents !== undefined) return numberIn(result.contents[0]?.text);
  const notes = result._meta?.["edgeway/servers"] as
    | readonly { readonly list?: string }[]
    | undefined;
  // Each list of a server stands for itself: a note on another one says nothing of this.
  if (notes?.some(({ list = "tools/list" }) => list === "tools/list") === true) return "incomplete";
  const listed = new Set(result.tools?.map(({ name }) => name));
  if (comeAndGo.some((tool) => !listed.has(tool))) return "incomplete";
  return result.tools?.reduce((sum, { description }) => sum + numberIn(description), 0);
}

function numberIn(text: string | undefined): number {
  return Number(/v(\d+)/.exec(text ?? "")?.[1] ?? 0);
}
