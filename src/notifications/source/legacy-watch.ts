/**
 * The watch on a legacy server: a session of the gateway's own, its standalone GET stream, and a
 * subscription for each resource. The stream is opened first, so that no subscription is answered
 * before its updates can be received. The loss of the session ends the watch; a broken stream is
 * opened again in the same session. A server without session ids is watched anew, since it may have lost its
 * subscriptions with the stream.
 */

import { Reconciler } from "../../lib/reconciler.ts";
import { abortAfter } from "../../lib/time-out.ts";
import { CLIENT_INFO } from "../../protocol/gateway-info.ts";
import { notification, isObject } from "../../protocol/json-rpc.ts";
import type { UsableCredential } from "../../upstream/credentials.ts";
import { connect, type Connected } from "../../upstream/legacy/find-transport.ts";
import { Exchanges } from "../../upstream/legacy/exchanges.ts";
import { withResumeTokens } from "../../upstream/legacy/resume-token.ts";
import { runExchange } from "../../upstream/legacy/run-exchange.ts";
import { isSessionless, isSharedEnd } from "../../upstream/legacy/sessionless.ts";
import type { DeliverFrom } from "../../upstream/legacy/wire.ts";
import { forgetVerdict } from "../../upstream/modern/discover.ts";
import { refusalOf } from "../../upstream/server-message.ts";
import { isOtherEra, UpstreamError } from "../../upstream/upstream-error.ts";
import { LIST_TOPICS, type Topic } from "../../catalog/feeds.ts";
import { isListTopic, type ListTopic, uriOf, topicOf } from "../../catalog/topics.ts";
import {
  noticePeer,
  type OpenWatch,
  type WatchEnd,
  type WatchEvents,
  type WatchRequest,
  takeNotice,
} from "./watch-port.ts";

const REVISION = "2025-11-25";
const OPENED_WITHIN_MS = 10_000;
const LEFT_WITHIN_MS = 5000;
/** Subscriptions and their ends under way at a time. */
const REQUESTS_AT_ONCE = 4;

export class LegacyWatch implements OpenWatch {
  readonly #request: WatchRequest;
  readonly #events: WatchEvents;
  readonly #peer = noticePeer((notice) => {
    if (!this.#isOver) takeNotice(notice, this.#events);
  });
  readonly #recipient = withResumeTokens(this.#peer);
  readonly #exchanges: Exchanges;
  readonly #subscriptions: Reconciler<string>;
  /** Aborted when the watch has ended. */
  readonly #over = new AbortController();
  #connected: Connected | undefined;
  /** The lists that the server promises to announce, once its stream was open. */
  #lists: ReadonlySet<ListTopic> | undefined;
  #takesSubscriptions = false;
  /** Resources whose unsubscription had no answer: the server may get it yet. */
  readonly #leaving = new Set<string>();
  #isReceiving = false;
  #timer: number | null = null;
  /** The credential of the watch, when its account ended before it was open. */
  #last: UsableCredential | undefined;

  constructor(request: WatchRequest, events: WatchEvents) {
    this.#request = request;
    this.#events = events;
    this.#exchanges = new Exchanges(
      async (session, response) => {
        // An answer that cannot be delivered is the server's loss.
        await session.post(response).catch(() => undefined);
        return true;
      },
      (question) => refusalOf(request.target, question),
    );
    this.#subscriptions = new Reconciler({
      isWanted: (uri) => request.uris.has(uri),
      add: (uri) => this.#subscribe(uri),
      remove: (uri) => this.#unsubscribe(uri),
      atOnce: REQUESTS_AT_ONCE,
      onSettled: (uri) => events.answered([topicOf(uri)]),
    });
    void this.#open();
  }

  get isReceiving(): boolean {
    return this.#isReceiving;
  }

  verdict(topic: Topic): boolean | "failed" | undefined {
    if (this.#lists === undefined) return undefined;
    if (isListTopic(topic)) return this.#lists.has(topic);
    const uri = uriOf(topic);
    if (uri === undefined || !this.#takesSubscriptions) return false;
    return this.#subscriptions.verdict(uri);
  }

  revise(uris: readonly string[]): void {
    if (this.#lists !== undefined && this.#takesSubscriptions) void this.#subscriptions.check(uris);
  }

  retry(isRefusedToo: boolean): void {
    this.#subscriptions.retry();
    if (!isRefusedToo) return;
    this.#subscriptions.forgetRefusals();
    this.revise([...this.#request.uris]);
  }

  async close(last?: UsableCredential): Promise<void> {
    if (!this.#isOver) this.#stop();
    this.#last = last;
    const wire = this.#connected?.wire;
    if (wire === undefined) return;
    wire.unlisten();
    // Ending the session ends them too; but not every server has sessions.
    if (last === undefined) {
      await abortAfter(LEFT_WITHIN_MS, (signal) => this.#subscriptions.release(signal));
    }
    await wire.close(last);
  }

  get #isOver(): boolean {
    return this.#over.signal.aborted;
  }

  readonly #deliver: DeliverFrom = (session, parsed) =>
    this.#exchanges.receive(parsed, this.#recipient, session);

  async #open(): Promise<void> {
    const { target } = this.#request;
    const client = { revision: REVISION, capabilities: {}, clientInfo: CLIENT_INFO } as const;
    try {
      const connected = await connect(target, client, this.#exchanges, this.#deliver);
      this.#connected = connected;
      if (this.#isOver) return await connected.wire.close(this.#last);
      await connected.wire.post(notification("notifications/initialized"));
      if (this.#isOver) return;
      const { capabilities } = connected.handshake;
      const lists = new Set(
        LIST_TOPICS.filter((list) => declares(capabilities[list], "listChanged")),
      );
      this.#takesSubscriptions = declares(capabilities["resources"], "subscribe");
      if (lists.size === 0 && !this.#takesSubscriptions) this.#end("refused");
      else this.#listen(connected, lists);
    } catch (error) {
      if (isOtherEra(error)) forgetVerdict(target);
      this.#end("lost");
    }
  }

  #listen({ wire }: Connected, lists: ReadonlySet<ListTopic>): void {
    // A stream that does not begin counts as none: nothing on it can be promised now.
    this.#timer = setTimeout(() => this.#end("lost"), OPENED_WITHIN_MS);
    wire.listen({
      deliver: (parsed) => this.#deliver(wire, parsed),
      primed: () => undefined,
      opened: (isContinued) => this.#opened(lists, isContinued),
      broken: () => {
        this.#isReceiving = false;
      },
      refused: () => this.#end("refused"),
      onLost: () => this.#end("lost", true),
    });
  }

  #opened(lists: ReadonlySet<ListTopic>, isContinued: boolean): void {
    if (this.#isOver) return;
    clearTimeout(this.#timer);
    this.#isReceiving = true;
    if (this.#lists !== undefined) {
      if (isContinued) return;
      // It may have been restarted, and there is no session id that it could refuse: the next watch subscribes anew.
      if (this.#connected !== undefined && isSessionless(this.#connected)) this.#end("lost");
      else this.#events.missed();
      return;
    }
    this.#lists = lists;
    const { uris } = this.#request;
    const refused = this.#takesSubscriptions ? [] : [...uris].map(topicOf);
    this.#events.answered([...LIST_TOPICS, ...refused]);
    this.revise([...uris]);
  }

  /** An unsubscription that the server gets later would take this away, so the watch begins anew in another session. */
  #subscribe(uri: string): Promise<boolean> {
    if (!this.#leaving.has(uri)) return this.#ask("resources/subscribe", uri);
    this.#end("lost");
    return Promise.resolve(false);
  }

  async #unsubscribe(uri: string): Promise<boolean> {
    try {
      return await this.#ask("resources/unsubscribe", uri);
    } catch (error) {
      this.#leaving.add(uri);
      throw error;
    }
  }

  async #ask(method: string, uri: string): Promise<boolean> {
    if (this.#connected === undefined) return false;
    const call = { method, params: { uri } };
    if (isSharedEnd(call, this.#connected)) return true;
    const run = {
      target: this.#request.target,
      exchanges: this.#exchanges,
      wire: this.#connected.wire,
      peer: this.#peer,
      call,
    };
    try {
      const reply = await runExchange({ ...run, signal: new AbortController().signal });
      return "result" in reply;
    } catch (error) {
      if (error instanceof UpstreamError && error.failure === "session-lost")
        this.#end("lost", true);
      throw error;
    }
  }

  #end(end: WatchEnd, isForgotten = false): void {
    if (this.#isOver) return;
    this.#stop();
    const wire = this.#connected?.wire;
    // The session is not needed any more; a server that still knows it is asked to end it.
    if (isForgotten) wire?.unlisten();
    else void wire?.close();
    if (end === "refused") {
      this.#lists = new Set();
      this.#takesSubscriptions = false;
      this.#events.answered([...LIST_TOPICS, ...[...this.#request.uris].map(topicOf)]);
    }
    this.#events.ended(end);
  }

  #stop(): void {
    this.#over.abort();
    this.#isReceiving = false;
    clearTimeout(this.#timer);
    this.#subscriptions.end();
    this.#exchanges.withdrawAllAsks();
  }
}

function declares(capability: unknown, member: string): boolean {
  return isObject(capability) && capability[member] === true;
}
