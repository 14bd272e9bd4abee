/**
 * `subscriptions/listen`: a stream of the changes at the servers of an endpoint, through their feeds,
 * so that no server has a watch for each listener. The acknowledgement comes first, with what is
 * really honoured. The stream has only what was asked for, and every message carries the listener's
 * own id (2026-07-28, subscriptions).
 */

import { SUBSCRIPTIONS_ACKNOWLEDGED } from "../../protocol/change-notices.ts";
import { Meta, metaOf, withMeta } from "../../protocol/envelope.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import {
  errorReply,
  type JsonObject,
  type JsonRpcRequest,
  type Reply,
  type RequestId,
} from "../../protocol/json-rpc.ts";
import type { Params } from "../../protocol/message-members.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import { MAX_URI_CHARS, MAX_URIS_CHARS } from "../source/topic-interest.ts";
import { ownersOf } from "../../catalog/routing/resource-owners.ts";
import { serverOf } from "../../endpoint/endpoint.ts";
import type { Interests, Topic } from "../../catalog/feeds.ts";
import { Deduplicator } from "../../lib/deduplicator.ts";
import { isListTopic, topicOf, notificationOf } from "../../catalog/topics.ts";
import type { ModernContext } from "../../relay/modern-context.ts";
import { listenInSession } from "../../relay/modern-to-legacy/listen-for-resources.ts";
import { retry } from "../../lib/retry.ts";
import { sleep } from "../../lib/sleep.ts";
import { CoalescingQueue } from "../../lib/coalescing-queue.ts";
import { SERVERS_KEY } from "../../upstream/server-key.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import {
  type AccountKeys,
  accountKeys,
  byKey,
  bySlug,
  hasOtherAccounts,
  takeAccountNews,
  takePublisherNews,
} from "../server-keys.ts";
import { readFilter, Subscription } from "./listen-filter.ts";
import { ListenSlots } from "./listen-slots.ts";
import { NewsConnection } from "./news-connection.ts";

/** Vaults restart. */
const RETRIES = { attempts: 3, backoff: { firstMs: 50 } };
const LATER = { attempts: Infinity, backoff: { firstMs: 500, maxMs: 30_000 } };

/** Shared by all requests that this isolate serves. */
const slots = new ListenSlots();

/**
 * Listens until the client disconnects.
 *
 * @returns the graceful end of the stream, when news is no longer available: the client listens anew.
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
  // URIs beyond the limits are not in the acknowledgement.
  const uris = asked.uris
    .filter((uri) => uri.length <= MAX_URI_CHARS)
    .slice(0, limits.subscribedUrisPerClient);
  const options = { limits, maxUrisChars: MAX_URIS_CHARS, now: () => Date.now() };
  const slot = slots.enter({ principal, uris }, options);
  if (slot === undefined) return tooMany(limits.listenStreamsPerPrincipal);
  try {
    const wanted = new Subscription(asked.lists, await ownersOf(context, client, slot.uris));
    const send = (call: Call): Promise<void> =>
      peer.notify({ ...call, params: tag(call.params, id) });
    const end = await sendChanges(wanted, context, client.capabilities, send, signal);
    return end ?? { result: { ...tag({}, id), resultType: "complete" } };
  } finally {
    slot.leave();
  }
}

/** @returns the reply that ends the stream, unless it is the graceful one. */
async function sendChanges(
  wanted: Subscription,
  context: ModernContext,
  capabilities: JsonObject,
  send: (call: Call) => Promise<void>,
  signal: AbortSignal,
): Promise<Reply | undefined> {
  const { endpoint, fanOut, publisher } = context;
  let accounts: AccountKeys = new Map();
  const interests = async (): Promise<Interests> => {
    const bySlugs = wanted.interests(endpoint);
    const keys = await accountKeys(endpoint, Object.keys(bySlugs));
    const keyed = await byKey(endpoint, bySlugs, publisher);
    accounts = keys;
    return keyed;
  };
  const connection = new NewsConnection(fanOut, await interests(), signal);
  const over = new AbortController();
  try {
    const honoured = wanted.isEmpty ? {} : await connection.open();
    if (honoured === undefined) return unavailable();
    const subscription = wanted.honoured(bySlug(endpoint, honoured));
    const notifications = subscription.filter();
    await send({ method: SUBSCRIPTIONS_ACKNOWLEDGED, params: { notifications } });
    // A subscription without any honoured topic was acknowledged as such; its stream stays open.
    if (subscription.isEmpty) {
      connection.close();
      return await unlessAborted(new Promise<never>(() => undefined), signal);
    }
    const deduplicator = new Deduplicator<"own" | "feed">();
    const queue = new CoalescingQueue<Topic>(async (topic) => {
      over.signal.throwIfAborted();
      await send(notificationOf(topic));
    });
    const onChange = (topic: Topic): void => {
      if (deduplicator.isNew(topic, "own")) queue.add(topic);
    };
    let replaced = new AbortController();
    const listenBeside = (): void => {
      const until = AbortSignal.any([over.signal, replaced.signal]);
      listenInSessions(subscription, context, capabilities, onChange, until);
    };
    /** What changes before the new accounts are listened at is in the gap that follows. */
    const listenAtOthers = async (): Promise<void> => {
      connection.listenFor(await interests());
      // The session of an account is not that of the next.
      replaced.abort(new Error("The client listens in other sessions"));
      replaced = new AbortController();
      listenBeside();
    };
    const followOthers = async (): Promise<void> => {
      if (await hasOtherAccounts(endpoint, accounts)) await listenAtOthers();
    };
    /** Once the vaults tell of another account. What none of them can say now is asked again beside the stream. */
    const follow = (): Promise<void> =>
      retry(followOthers, { ...RETRIES, signal }).catch(() => {
        const later = retry(followOthers, { ...LATER, signal: over.signal });
        later.catch(() => undefined); // the listener has gone
      });
    listenBeside();
    // An isolate that did not know these servers yet may have answered for the lists meanwhile.
    const settledAt = Math.max(endpoint.settledAt ?? 0, publisher?.settledAt ?? 0);
    const unsettledMs = settledAt - Date.now();
    if (unsettledMs > 0) {
      const settled = sleep(unsettledMs, over.signal).then(() => {
        for (const list of subscription.lists) queue.add(list);
      });
      settled.catch(() => undefined); // the listener has gone
    }
    await follow();
    for (;;) {
      const event = await connection.next();
      if (event === undefined) return undefined;
      const isGap = event.kind === "gap";
      const isOther =
        !isGap && (event.news.slug === SERVERS_KEY || takePublisherNews(publisher, event.news));
      if (isOther) {
        for (const list of subscription.lists) await send(notificationOf(list));
        // The client listens anew, at the servers that there are now.
        return undefined;
      }
      if (!isGap && takeAccountNews(endpoint, event.news)) {
        await listenAtOthers();
        continue;
      }
      // An acknowledgement cannot be withdrawn: the client listens anew, and gets the current one.
      if (isGap && !covers(subscription, bySlug(endpoint, event.honoured))) return undefined;
      const topics = isGap ? subscription.everything() : subscription.topicsOf(event.news);
      for (const topic of topics) {
        // The client's own session brings neither changes of lists nor gaps.
        const isNew = isGap || isListTopic(topic) || deduplicator.isNew(topic, "feed");
        if (isNew) await send(notificationOf(topic));
      }
      if (isGap) await follow();
    }
  } finally {
    over.abort(new Error("The client does not listen any more"));
    connection.close();
  }
}

/** Some servers announce the effects of a client's calls only in that client's session. */
function listenInSessions(
  subscription: Subscription,
  context: ModernContext,
  capabilities: JsonObject,
  onChange: (topic: Topic) => void,
  signal: AbortSignal,
): void {
  for (const [slug, uris] of subscription.urisBySlug()) {
    const server = serverOf(context.endpoint, slug);
    const isAsked = new Set(uris);
    const onUpdate = (uri: string): void => {
      if (isAsked.has(uri)) onChange(topicOf(uri));
    };
    if (server === undefined) continue;
    listenInSession(context, server.target, capabilities, uris, onUpdate, signal);
  }
}

function covers(subscription: Subscription, honoured: Interests): boolean {
  return subscription.honoured(honoured).covers(subscription);
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
