/**
 * What a session wants to hear of: the resources that its client has subscribed to, each at the
 * server that has it, and, from the time that the client listens, the lists of all servers, unless
 * there is one alone that tells of them by itself.
 */

import { type Endpoint, serverOf } from "../../endpoint/endpoint.ts";
import { type Interests, LIST_TOPICS, type Topic } from "../../catalog/feeds.ts";
import { mayKeep } from "../../catalog/uris/judge-uri.ts";
import { isListTopic, type ListTopic, topicOf, uriOf } from "../../catalog/topics.ts";

/** Plain data. */
export interface SavedWanted {
  readonly uris: readonly (readonly [uri: string, slug: string])[];
  /** There once the client listens: by server, those lists that it will tell of. */
  readonly lists?: Interests;
}

export class SessionSubscriptions {
  readonly #endpoint: Endpoint;
  /** The server of each resource. */
  readonly #uris = new Map<string, string>();
  #lists: ReadonlyMap<string, readonly Topic[]> | undefined;

  constructor(endpoint: Endpoint, saved: SavedWanted | undefined) {
    this.#endpoint = endpoint;
    // The configuration may be another one since.
    for (const [uri, slug] of saved?.uris ?? []) {
      const server = serverOf(endpoint, slug);
      if (server !== undefined && mayKeep(server.resources, uri)) this.#uris.set(uri, slug);
    }
    if (saved?.lists !== undefined) this.#lists = new Map(Object.entries(saved.lists));
  }

  get uriCount(): number {
    return this.#uris.size;
  }

  /** How much there is to be kept. */
  get uriChars(): number {
    let chars = 0;
    for (const uri of this.#uris.keys()) chars += uri.length;
    return chars;
  }

  get isEmpty(): boolean {
    return this.#uris.size === 0 && this.#lists === undefined;
  }

  ownerOf(uri: string): string | undefined {
    return this.#uris.get(uri);
  }

  add(uri: string, slug: string): void {
    this.#uris.set(uri, slug);
  }

  delete(uri: string): void {
    this.#uris.delete(uri);
  }

  /**
   * The client listens.
   *
   * @param isSilent a server alone mostly tells of its lists in the session that the client has with
   *   it; this one has none.
   */
  listen(isSilent: boolean): void {
    if (this.#endpoint.isMerged || isSilent) this.#lists ??= new Map();
  }

  wants(slug: string, topic: Topic): boolean {
    if (isListTopic(topic)) return this.#lists !== undefined;
    return this.#uris.get(uriOf(topic)) === slug;
  }

  /** Whether a server said that it will tell of a list. */
  isToldOf(slug: string, topic: ListTopic): boolean {
    return this.#lists?.get(slug)?.includes(topic) === true;
  }

  /** @param honoured what the servers will tell of. @returns whether that is another than before. */
  learn(honoured: Interests): boolean {
    if (this.#lists === undefined) return false;
    const before = JSON.stringify([...this.#lists]);
    this.#lists = new Map(
      Object.entries(honoured).flatMap(([slug, topics]) => {
        const lists = topics.filter(isListTopic);
        return lists.length === 0 ? [] : [[slug, lists]];
      }),
    );
    return JSON.stringify([...this.#lists]) !== before;
  }

  urisOf(slug: string): string[] {
    return [...this.#uris].flatMap(([uri, owner]) => (owner === slug ? [uri] : []));
  }

  /** By server, for the fan-out. */
  interests(): Interests {
    const topics = new Map<string, Topic[]>();
    for (const { slug } of this.#endpoint.servers) {
      topics.set(slug, this.#lists === undefined ? [] : [...LIST_TOPICS]);
    }
    for (const [uri, slug] of this.#uris) topics.get(slug)?.push(topicOf(uri));
    return Object.fromEntries([...topics].filter(([, wanted]) => wanted.length > 0));
  }

  /** All that there may be news of. */
  topics(): readonly Topic[] {
    const lists = [...(this.#lists?.values() ?? [])].flat();
    return [...new Set([...lists, ...[...this.#uris.keys()].map(topicOf)])];
  }

  save(): SavedWanted {
    const uris = [...this.#uris];
    return this.#lists === undefined ? { uris } : { uris, lists: Object.fromEntries(this.#lists) };
  }
}
