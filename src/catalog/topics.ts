/** The topics of change notifications: a server's lists and its resources. */

import { LIST_CHANGED, RESOURCE_UPDATED } from "../protocol/change-notices.ts";
import type { Call } from "../protocol/exchange.ts";
import { LIST_TOPICS, type Topic } from "./feeds.ts";

export type ListTopic = (typeof LIST_TOPICS)[number];
type UriTopic = Exclude<Topic, ListTopic>;

const URI = "uri:";

export function isListTopic(topic: Topic): topic is ListTopic {
  return (LIST_TOPICS as readonly Topic[]).includes(topic);
}

export function topicOf(uri: string): Topic {
  return `${URI}${uri}`;
}

/** @returns `undefined` for a list. */
export function uriOf(topic: UriTopic): string;
export function uriOf(topic: Topic): string | undefined;
export function uriOf(topic: Topic): string | undefined {
  return isListTopic(topic) ? undefined : topic.slice(URI.length);
}

export function notificationOf(topic: Topic): Call {
  if (isListTopic(topic)) return { method: LIST_CHANGED[topic] };
  return { method: RESOURCE_UPDATED, params: { uri: uriOf(topic) } };
}

/** @returns the list that a notification reports as changed; `undefined` for other methods. */
export function listChangedBy(method: string): ListTopic | undefined {
  return LIST_TOPICS.find((topic) => LIST_CHANGED[topic] === method);
}
