/**
 * The resources to which a session's client subscribes, one request for a resource after the other. Each is asked for
 * at the fan-out, and in the client's own session at the server where it has one, or nothing else announces it.
 */

import { attributedAt } from "../../endpoint/attribution.ts";
import type { Server } from "../../endpoint/server.ts";
import type { Interests, Topic } from "../../catalog/feeds.ts";
import type { RequestScope } from "../../catalog/request-scope.ts";
import { malformed } from "../../catalog/routing/routing-refusals.ts";
import { topicOf } from "../../catalog/topics.ts";
import { KeyedMutex } from "../../lib/keyed-mutex.ts";
import { settleWithin } from "../../lib/time-out.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import { errorReply, type Reply } from "../../protocol/json-rpc.ts";
import type { Params } from "../../protocol/message-members.ts";
import type { OwnSubscriptions } from "./own-subscriptions.ts";
import type { AccountKeys } from "../server-keys.ts";
import type { Announced } from "./session-interests.ts";
import type { SessionSubscriptions } from "./session-subscriptions.ts";

/** The longest wait of a client for its own session to be subscribed too. */
export const OWN_WAIT_MS = 1000;
/** … and for it to be opened and subscribed, when nothing else announces the resource. */
const BEGIN_WAIT_MS = 10_000;

export interface ResourceSubscriptionsOptions {
  readonly requestScope: Pick<RequestScope, "endpoint" | "limits" | "waitUntil">;
  readonly wanted: SessionSubscriptions;
  readonly own: OwnSubscriptions;
  /** Asks the fan-out for more. */
  readonly add: (interests: Interests) => Promise<Announced>;
  /** The client has been granted a resource that was asked for through these accounts. */
  readonly granted: (accounts: AccountKeys) => void;
  /** The fan-out forgets these. */
  readonly remove: (interests: Interests) => Promise<void>;
  /** The client is told nothing more of it, not even what waits for it. */
  readonly dropped: (topic: Topic) => void;
  /** What is wanted has changed, and is to be stored. */
  readonly save: () => void;
}

interface Asked {
  readonly announced: Announced;
  /** Whether the client's own session announces the resource. */
  readonly owning: Promise<boolean>;
  /** The client was not subscribed to it before. */
  readonly isNew: boolean;
}

export class ResourceSubscriptions {
  readonly #options: ResourceSubscriptionsOptions;
  readonly #mutex = new KeyedMutex();

  constructor(options: ResourceSubscriptionsOptions) {
    this.#options = options;
  }

  /** `resources/subscribe` at a server: answered once it is known that there will be news. */
  subscribe({ slug }: Server, params: Params | undefined): Promise<Reply> {
    const uri = params?.uri;
    if (typeof uri !== "string") return Promise.resolve(malformed("uri"));
    return this.#mutex.run(uri, () => this.#subscribe(uri, slug));
  }

  async #subscribe(uri: string, slug: string): Promise<Reply> {
    const { requestScope, wanted, own, add, granted, save } = this.#options;
    const before = wanted.ownerOf(uri);
    if (before !== undefined && before !== slug) this.#forget(uri, before);
    const refusal = wanted.refusal(uri, requestScope.limits.subscribedUrisPerClient);
    if (refusal !== undefined) return refusal;
    // Before it is asked for: news may arrive before the answer.
    if (before !== slug) wanted.add(uri, slug);
    const owning = own.subscribe(slug, uri);
    requestScope.waitUntil(owning);
    const announced = await add({ [slug]: [topicOf(uri)] });
    const reply = await this.#settle(uri, slug, { announced, owning, isNew: before !== slug });
    // Another life must know of what the client is told that it was granted, and of nothing else.
    if (wanted.grant(uri)) save();
    if (wanted.ownerOf(uri) === slug) granted(announced.accounts);
    return reply;
  }

  /** The fan-out has answered. */
  async #settle(uri: string, slug: string, { announced, owning, isNew }: Asked): Promise<Reply> {
    const { wanted, save } = this.#options;
    const { honoured, accounts } = announced;
    const topic = topicOf(uri);
    const isNoted = wanted.noteAccounts(accounts);
    if (wanted.covered(honoured, [uri]) || isNoted) save();
    if (honoured !== undefined && new Map(Object.entries(honoured)).get(slug)?.includes(topic)) {
      await settleWithin(owning, OWN_WAIT_MS);
      return this.#doneAt(slug);
    }
    if (await owning) return this.#doneAt(slug);
    // The capabilities in `initialize` hold for a session that the client has with the server itself.
    if (honoured !== undefined && (await this.#beginOwn(uri, slug))) return { result: {} };
    // It may still be granted where that took too long.
    if (honoured !== undefined || isNew) this.#drop(uri, slug);
    if (honoured === undefined) {
      const message = "The gateway cannot tell of changes at the moment; subscribe again later";
      return errorReply(ErrorCode.InternalError, message, { uri });
    }
    const message = `Upstream "${slug}" does not tell when this resource changes, or is not to be had now`;
    return errorReply(ErrorCode.InvalidParams, message, { uri });
  }

  /** @returns whether the client's own session with the server will announce the resource. */
  async #beginOwn(uri: string, slug: string): Promise<boolean> {
    const { own, requestScope } = this.#options;
    const begun = own.begin(slug, uri);
    requestScope.waitUntil(begun.then((isBegun) => (isBegun ? own.subscribeAll(slug) : undefined)));
    return (await settleWithin(begun, BEGIN_WAIT_MS)) === true;
  }

  /** `resources/unsubscribe`. */
  unsubscribe(params: Params | undefined): Reply {
    const uri = params?.uri;
    if (typeof uri !== "string") return malformed("uri");
    const slug = this.#options.wanted.ownerOf(uri);
    if (slug === undefined) return { result: {} };
    this.#drop(uri, slug);
    return this.#doneAt(slug);
  }

  /** The client is not subscribed to the resource any more, or was refused it. */
  #drop(uri: string, slug: string): void {
    this.#forget(uri, slug);
    this.#options.dropped(topicOf(uri));
    this.#options.save();
  }

  /** Runs under the URI's lock, so that a later subscription is not undone. */
  #forget(uri: string, slug: string): void {
    const { wanted, own, remove, requestScope } = this.#options;
    wanted.delete(uri);
    const removed = this.#mutex.run(uri, async () => {
      if (wanted.ownerOf(uri) === slug) return;
      await Promise.all([remove({ [slug]: [topicOf(uri)] }), own.unsubscribe(slug, uri)]);
    });
    requestScope.waitUntil(removed);
  }

  #doneAt(slug: string): Reply {
    return attributedAt(this.#options.requestScope.endpoint, slug, { result: {} });
  }
}
