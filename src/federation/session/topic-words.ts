/** How a change is told to a legacy client, and read when a server tells of it. */

import type { Call } from "../../protocol/exchange.ts";
import { LIST_TOPICS, type Topic } from "../feed/feeds.ts";

export type ListTopic = (typeof LIST_TOPICS)[number];

const METHODS: Readonly<Record<ListTopic, string>> = {
  tools: "notifications/tools/list_changed",
  prompts: "notifications/prompts/list_changed",
  resources: "notifications/resources/list_changed",
};
const URI = "uri:";

export function isListTopic(topic: Topic): topic is ListTopic {
  return (LIST_TOPICS as readonly Topic[]).includes(topic);
}

export function topicOf(uri: string): Topic {
  return `${URI}${uri}`;
}

/** @param topic of a resource. */
export function uriOf(topic: Topic): string {
  return topic.slice(URI.length);
}

export function wordOf(topic: Topic): Call {
  if (isListTopic(topic)) return { method: METHODS[topic] };
  return { method: "notifications/resources/updated", params: { uri: uriOf(topic) } };
}

/** @returns the list that a notification says has changed, if it says that of one. */
export function listToldBy(method: string): ListTopic | undefined {
  return LIST_TOPICS.find((topic) => METHODS[topic] === method);
}
