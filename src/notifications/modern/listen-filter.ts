/**
 * The subscription of a listener, and its honoured part: translates the filter of
 * `subscriptions/listen` into topics of servers and back (2026-07-28, subscriptions).
 */

import { LIST_FILTER } from "../../protocol/change-notices.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import type { Params } from "../../protocol/message-members.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Server } from "../../endpoint/server.ts";
import { type Interests, LIST_TOPICS, type News, type Topic } from "../../catalog/feeds.ts";
import { SERVERS_KEY, slugOfKey } from "../../upstream/server-key.ts";
import { isListTopic, type ListTopic, topicOf, versionTopicOf } from "../../catalog/topics.ts";

export interface ListenRequest {
  readonly lists: readonly ListTopic[];
  /** Without duplicates. */
  readonly uris: readonly string[];
}

/** @param params already validated by the HTTP handler (`misshapenMember`). */
export function readFilter(params: Params | undefined): ListenRequest {
  const { notifications } = params ?? {};
  const filter = isObject(notifications) ? notifications : {};
  const { resourceSubscriptions } = filter;
  const uris = Array.isArray(resourceSubscriptions) ? (resourceSubscriptions as string[]) : [];
  return {
    lists: LIST_TOPICS.filter((topic) => filter[LIST_FILTER[topic]] === true),
    uris: [...new Set(uris)],
  };
}

/** Task notifications are only for clients that declare the extension (tasks, notifications: MUST). */
export function asksForTasks(params: Params | undefined): boolean {
  const filter = params?.notifications;
  return isObject(filter) && filter["taskIds"] !== undefined;
}

type Owners = ReadonlyMap<string, Pick<Server, "slug">>;

/** The lists and resources of which a listener is notified. */
export class Subscription {
  readonly #lists: readonly ListTopic[];
  /** By URI: the server that announces its changes. */
  readonly #owners: Owners;
  readonly #slugs: ReadonlyMap<Topic, string>;

  constructor(lists: readonly ListTopic[], owners: Owners) {
    this.#lists = lists;
    this.#owners = owners;
    this.#slugs = new Map([...owners].map(([uri, { slug }]) => [topicOf(uri), slug]));
  }

  get isEmpty(): boolean {
    return this.#lists.length === 0 && this.#owners.size === 0;
  }

  /** @returns by server: the resources that it announces. */
  urisBySlug(): ReadonlyMap<string, readonly string[]> {
    const uris = new Map<string, string[]>();
    for (const [uri, { slug }] of this.#owners) {
      const known = uris.get(slug);
      if (known === undefined) uris.set(slug, [uri]);
      else known.push(uri);
    }
    return uris;
  }

  /** @returns by server: lists of all servers, resources of their owners; and that the servers change. */
  interests({ servers, version }: Endpoint): Interests {
    const topics = new Map<string, Topic[]>(servers.map(({ slug }) => [slug, [...this.#lists]]));
    for (const [topic, slug] of this.#slugs) topics.get(slug)?.push(topic);
    if (version !== undefined) topics.set(SERVERS_KEY, [versionTopicOf(version)]);
    return Object.fromEntries([...topics].filter(([, wanted]) => wanted.length > 0));
  }

  /** @returns the part that servers will announce. A list counts if any server announces it. */
  honoured(by: Interests): Subscription {
    const topics = new Map(Object.entries(by).map(([slug, promised]) => [slug, new Set(promised)]));
    const lists = this.#lists.filter((list) =>
      [...topics.values()].some((promised) => promised.has(list)),
    );
    const owners = [...this.#owners].filter(([uri, { slug }]) =>
      topics.get(slug)?.has(topicOf(uri)),
    );
    return new Subscription(lists, new Map(owners));
  }

  covers(other: Subscription): boolean {
    return (
      other.#lists.every((list) => this.#lists.includes(list)) &&
      [...other.#owners.keys()].every((uri) => this.#owners.has(uri))
    );
  }

  /** As a filter, for the acknowledgement. */
  filter(): JsonObject {
    const lists = this.#lists.map((topic): [string, unknown] => [LIST_FILTER[topic], true]);
    const uris = [...this.#owners.keys()];
    return {
      ...Object.fromEntries(lists),
      ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }),
    };
  }

  /** @returns the topics of the news to announce: each once, and only those asked for. */
  topicsOf({ slug: key, topics }: News): readonly Topic[] {
    const slug = slugOfKey(key);
    return [...new Set(topics)].filter((topic) =>
      isListTopic(topic) ? this.#lists.includes(topic) : this.#slugs.get(topic) === slug,
    );
  }

  /** The lists, which may all be others when the servers are. */
  get lists(): readonly Topic[] {
    return this.#lists;
  }

  /** @returns every topic, for when any may have changed. */
  everything(): readonly Topic[] {
    return [...this.#lists, ...this.#slugs.keys()];
  }
}
