/** The topics of change notifications: a server's lists and its resources, and what people were asked. */

import {
  ELICITATION_COMPLETE,
  LIST_CHANGED,
  RESOURCE_UPDATED,
} from "../protocol/change-notices.ts";
import type { Call } from "../protocol/exchange.ts";
import { LIST_TOPICS, type Topic } from "./feeds.ts";

export type ListTopic = (typeof LIST_TOPICS)[number];
type AskTopic = Extract<Topic, `ask:${string}`>;

const URI = "uri:";
const VERSION = "version:";
/** No slug has a space. */
const ASK = /^ask:([^ ]+) (.+)$/s;

export function isListTopic(topic: Topic): topic is ListTopic {
  return (LIST_TOPICS as readonly Topic[]).includes(topic);
}

export function topicOf(uri: string): Topic {
  return `${URI}${uri}`;
}

/** @returns `undefined` for what is no resource. */
export function uriOf(topic: Topic): string | undefined {
  return topic.startsWith(URI) ? topic.slice(URI.length) : undefined;
}

/** An elicitation in URL mode by which a client's person was asked to connect an account at a server. */
export interface Ask {
  readonly slug: string;
  readonly elicitationId: string;
}

export function askTopicOf({ slug, elicitationId }: Ask): AskTopic {
  return `ask:${slug} ${elicitationId}`;
}

/** The topic of whoever has this version of the servers that operators have added. */
export function versionTopicOf(version: number): Topic {
  return `version:${version}`;
}

/** @returns `undefined` for another topic. */
export function versionOf(topic: Topic): number | undefined {
  return topic.startsWith(VERSION) ? Number(topic.slice(VERSION.length)) : undefined;
}

/** @returns `undefined` for what is no ask. */
export function askOf(topic: Topic): Ask | undefined {
  const [, slug, elicitationId] = ASK.exec(topic) ?? [];
  return slug === undefined || elicitationId === undefined ? undefined : { slug, elicitationId };
}

export function notificationOf(topic: Topic): Call {
  if (isListTopic(topic)) return { method: LIST_CHANGED[topic] };
  const ask = askOf(topic);
  if (ask !== undefined) {
    return { method: ELICITATION_COMPLETE, params: { elicitationId: ask.elicitationId } };
  }
  return { method: RESOURCE_UPDATED, params: { uri: uriOf(topic) } };
}

/** @returns the list that a notification reports as changed; `undefined` for other methods. */
export function listChangedBy(method: string): ListTopic | undefined {
  return LIST_TOPICS.find((topic) => LIST_CHANGED[topic] === method);
}
