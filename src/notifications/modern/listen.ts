/**
 * `subscriptions/listen`: a stream of what changes at the servers of an endpoint, by way of their
 * feeds, so that no server has a watch for each listener. Acknowledged first, with what is really
 * honoured; nothing but what was asked for; every message tagged with the listener's own id
 * (2026-07-28, subscriptions).
 */

import { Meta, metaOf, withMeta } from "../../protocol/envelope.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import {
  errorReply,
  type JsonObject,
  type JsonRpcRequest,
  type Params,
  type Reply,
  type RequestId,
} from "../../protocol/json-rpc.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import { MAX_URI_CHARS, MAX_URIS_CHARS } from "../source/wanted-uri.ts";
import { ownersOf } from "../../catalog/routing/resource-owners.ts";
import { serverOf } from "../../endpoint/endpoint.ts";
import type { Topic } from "../../catalog/feeds.ts";
import { Deduplicator } from "../../lib/deduplicator.ts";
import { isListTopic, topicOf, wordOf } from "../../catalog/topics.ts";
import type { ModernContext } from "../../relay/modern-context.ts";
import { listenInSession } from "../../relay/modern-to-legacy/listen-for-resources.ts";
import { CoalescingQueue } from "../../lib/coalescing-queue.ts";
import { type ListenRequest, readFilter, Subscription } from "./listen-filter.ts";
import { ListenSlots } from "./listen-slots.ts";
import { type ListenerEvent, NewsLine } from "./news-line.ts";

const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
/** Of all requests that this isolate serves. */
const places = new ListenSlots();

/**
 * Listens until the client hangs up.
 *
 * @returns its graceful end, when news cannot be had any more: the client listens anew.
 * @throws the reason of `signal`.
 */
export async function listen(
  context: ModernContext,
  client: ClientKind,
  { id, params }: JsonRpcRequest,
  peer: Peer,
  signal: AbortSignal,
): Promise<Reply> {
  const asked = readFilter(params);
  const { limits, principal } = context;
  // What is beyond the limits is not in the acknowledgement.
  const uris = asked.uris
    .filter((uri) => uri.length <= MAX_URI_CHARS)
    .slice(0, limits.subscribedUrisPerClient);
  const options = { limits, maxUrisChars: MAX_URIS_CHARS, now: () => Date.now() };
  const place = places.enter({ principal, uris }, options);
  if (place === undefined) return tooMany(limits.listenStreamsPerPrincipal);
  try {
    return await listenAt(place.uris, asked.lists, { context, client, id, peer, signal });
  } finally {
    place.leave();
  }
}

interface Listening {
  readonly context: ModernContext;
  readonly client: ClientKind;
  readonly id: RequestId;
  readonly peer: Peer;
  readonly signal: AbortSignal;
}

async function listenAt(
  uris: readonly string[],
  lists: ListenRequest["lists"],
  { context, client, id, peer, signal }: Listening,
): Promise<Reply> {
  const wanted = new Subscription(lists, await ownersOf(context, client, uris));
  const line = new NewsLine(context.fanOut, wanted.interests(context.endpoint), signal);
  const tell: Tell = (call) => peer.notify({ ...call, params: tag(call.params, id) });
  const over = new AbortController();
  try {
    const honoured = wanted.isEmpty ? {} : await line.open();
    if (honoured === undefined) return unavailable();
    const subscription = wanted.honoured(honoured);
    await tell({ method: ACKNOWLEDGED, params: { notifications: subscription.filter() } });
    const deduplicator = new Deduplicator<"own" | "feed">();
    const queue = new CoalescingQueue<Topic>(async (topic) => {
      over.signal.throwIfAborted();
      await tell(wordOf(topic));
    });
    const hear = (topic: Topic): void => {
      if (deduplicator.isNew(topic, "own")) queue.add(topic);
    };
    listenInSessions(subscription, context, client.capabilities, hear, over.signal);
    // In the session nothing is said of lists, nor of what was missed.
    const isNew = (topic: Topic, { kind }: ListenerEvent): boolean =>
      isListTopic(topic) || kind === "gap" || deduplicator.isNew(topic, "feed");
    const tellOfFeed = async (topic: Topic, heard: ListenerEvent): Promise<void> => {
      if (isNew(topic, heard)) await tell(wordOf(topic));
    };
    await pass(line, subscription, tellOfFeed, signal);
    return { result: { ...tag({}, id), resultType: "complete" } };
  } finally {
    over.abort(new Error("Nobody listens any more"));
    line.close();
  }
}

type Tell = (call: Call) => Promise<void>;

/** Some servers tell of what a client does in that client's session alone. */
function listenInSessions(
  subscription: Subscription,
  context: ModernContext,
  capabilities: JsonObject,
  hear: (topic: Topic) => void,
  signal: AbortSignal,
): void {
  for (const [slug, uris] of subscription.urisBySlug()) {
    const server = serverOf(context.endpoint, slug);
    const isAsked = new Set(uris);
    const hearUri = (uri: string): void => {
      if (isAsked.has(uri)) hear(topicOf(uri));
    };
    if (server === undefined) continue;
    listenInSession(context, server.target, capabilities, uris, hearUri, signal);
  }
}

async function pass(
  line: NewsLine,
  subscription: Subscription,
  tell: (topic: Topic, heard: ListenerEvent) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  // Who asks for nothing that there is has been told so, and is left in peace.
  if (subscription.isEmpty) {
    line.close();
    return aborted(signal);
  }
  for (;;) {
    const heard = await line.next();
    if (heard === undefined) return;
    const isGap = heard.kind === "gap";
    // What is not honoured any more cannot be taken back: the client asks anew, and is told.
    if (isGap && !subscription.honoured(heard.honoured).covers(subscription)) return;
    const topics = isGap ? subscription.everything() : subscription.told(heard.news);
    for (const topic of topics) await tell(topic, heard);
  }
}

/** @throws the reason of the signal, once there is one. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = (): void => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

function tooMany(limit: number): Reply {
  const message = `You listen on ${limit} streams already, which is the limit; close one, and listen again in half a minute`;
  return errorReply(ErrorCode.Transport, message);
}

function unavailable(): Reply {
  const message = "The gateway cannot tell of changes at the moment; listen again later";
  return errorReply(ErrorCode.InternalError, message);
}

/** The tag keeps the JSON type of the listener's id: a number stays a number. */
function tag(params: Params | undefined, id: RequestId): Params {
  return withMeta(params, { ...metaOf(params), [Meta.subscriptionId]: id });
}
