/**
 * A legacy session: what `initialize` opened and DELETE ends. It takes a client's messages, runs
 * its requests, and puts every message of the server's on the one stream where it belongs.
 */

import { settleWithin } from "../lib/time-out.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import type { Call, Peer } from "../protocol/exchange.ts";
import {
  errorReply,
  isRequestId,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  notification,
  type Parsed,
  replyOf,
  type Reply,
  type RequestId,
  respond,
} from "../protocol/json-rpc.ts";
import { allowsBatches, allowsPriming } from "../protocol/revisions.ts";
import { Answer } from "./answer.ts";
import { Asks } from "./asks.ts";
import type { ClientFacts, Connect, Dispatch } from "./dispatch.ts";
import { answerInitialize, parseInitialize } from "./initialize.ts";
import { type Outcome, refuse } from "./outcome.ts";
import type { SessionStream } from "./session-stream.ts";
import { type StreamLimits, Streams } from "./streams.ts";

const MAX_NOTIFICATION_WAIT_MS = 5000;

export type Door = "streamable-http" | "http+sse";

export interface SessionLimits extends StreamLimits {
  readonly askTimeoutMs: number;
  readonly retryMs: number;
  /** How long the upstream is listened to after the client's last stream broke. */
  readonly lingerMs: number;
  readonly maxInFlight: number;
  /** An answer that takes longer becomes a stream, which can be kept alive. */
  readonly streamAfterMs: number;
}

export interface SessionOptions {
  readonly door: Door;
  /** What `initialize` fixed, if it has been done; kept by the caller across evictions. */
  readonly client: ClientFacts | undefined;
  readonly connect: Connect;
  readonly limits: SessionLimits;
  /** Called once, when `initialize` has opened the session. */
  readonly onOpened: (client: ClientFacts) => void;
  /** Called when the client of an HTTP+SSE session has gone: the stream was the session. */
  readonly onDeserted: () => void;
}

export class Session {
  readonly #door: Door;
  readonly #connect: Connect;
  readonly #limits: SessionLimits;
  readonly #onOpened: (client: ClientFacts) => void;
  readonly #streams: Streams;
  readonly #asks: Asks;
  readonly #inFlight = new Map<RequestId, AbortController>();
  #lingering: number | null = null;
  #client: ClientFacts | undefined;
  #dispatch: Dispatch | undefined;

  constructor({ door, client, connect, limits, onOpened, onDeserted }: SessionOptions) {
    this.#door = door;
    this.#client = client;
    this.#connect = connect;
    this.#limits = limits;
    this.#onOpened = onOpened;
    const life = crypto.randomUUID().slice(0, 8);
    this.#asks = new Asks({ timeoutMs: limits.askTimeoutMs, life });
    this.#streams = new Streams({
      limits,
      life,
      isResumable: door === "streamable-http",
      onDetach: () => {
        if (door === "http+sse") onDeserted();
        else this.#linger();
      },
    });
    if (client !== undefined) this.#dispatch = connect(client, this.#unsolicited);
  }

  get isOpen(): boolean {
    return this.#client !== undefined;
  }

  /** Takes the messages of one POST. */
  async receive(messages: readonly Parsed[], isBatch: boolean): Promise<Outcome> {
    const [first] = messages;
    if (first?.kind === "request" && first.message.method === "initialize") {
      if (!isBatch) return this.#initialize(first.message);
      return refuse(400, ErrorCode.InvalidRequest, "initialize must not be part of a batch");
    }
    const client = this.#client;
    if (client === undefined) {
      return refuse(400, ErrorCode.InvalidRequest, "The session is not initialized yet");
    }
    if (isBatch && !allowsBatches(client.revision)) {
      const message = `Revision ${client.revision} has no batches: send one message for each POST`;
      return refuse(400, ErrorCode.InvalidRequest, message);
    }
    const requests: JsonRpcRequest[] = [];
    for (const { kind, message } of messages) if (kind === "request") requests.push(message);
    const refusal = this.#refuseRequests(requests);
    if (refusal !== undefined) return refusal;

    for (const parsed of messages) {
      if (parsed.kind === "notification") {
        // Waited for, so that what follows finds it done; but not for ever.
        await settleWithin(this.#receiveNotification(parsed.message), MAX_NOTIFICATION_WAIT_MS);
      }
      if (parsed.kind === "response" && parsed.message.id !== undefined) {
        this.#asks.settle(parsed.message.id, replyOf(parsed.message));
      }
    }
    return requests.length === 0 ? { kind: "accepted" } : this.#run(requests, isBatch);
  }

  /** Opens the stream of what belongs to no request, or takes up a broken one. */
  openStream(lastEventId?: string): Outcome {
    if (this.#streams.isFull) return this.#refuseStream();
    if (lastEventId !== undefined) return this.#resume(lastEventId);
    const { stream, ...opened } = this.#streams.open("standalone");
    this.#startStream(stream);
    this.#listen(stream);
    return { kind: "stream", ...opened };
  }

  /** The reader of a connection has gone; its stream may go on. */
  detach(connection: number): void {
    this.#streams.detach(connection);
  }

  /** Ends everything: what runs is cancelled, the upstream session is closed. */
  async close(): Promise<void> {
    for (const controller of this.#inFlight.values()) {
      controller.abort(new Error("The client ended the session"));
    }
    clearTimeout(this.#lingering);
    this.#streams.endAll();
    const dispatch = this.#dispatch;
    this.#client = undefined;
    this.#dispatch = undefined;
    await dispatch?.close();
  }

  #resume(lastEventId: string): Outcome {
    const resumed = this.#streams.resume(lastEventId);
    switch (resumed.kind) {
      case "stream":
        if (resumed.stream.id.kind === "standalone") this.#listen(resumed.stream);
        return { kind: "stream", body: resumed.body, connection: resumed.connection };
      case "malformed":
        return refuse(400, ErrorCode.Transport, "Last-Event-ID is not one of this session's");
      case "gone":
        return refuse(400, ErrorCode.Transport, "The events after this Last-Event-ID are gone");
    }
  }

  /** There is a stream for what belongs to no request: what waited goes out, more may come. */
  #listen(stream: SessionStream): void {
    clearTimeout(this.#lingering);
    this.#streams.flushBacklog(stream);
    this.#dispatch?.listen();
  }

  /** Goes on listening for a while after the last such stream broke; what comes is kept. */
  #linger(): void {
    if (this.#streams.standalone() !== undefined) return;
    clearTimeout(this.#lingering);
    this.#lingering = setTimeout(() => this.#dispatch?.unlisten(), this.#limits.lingerMs);
  }

  #startStream(stream: SessionStream): void {
    if (this.#isPolling()) stream.prime(this.#limits.retryMs);
  }

  /** Whether this client knows that a closed connection need not be a closed stream. */
  #isPolling(): boolean {
    const { revision } = this.#client ?? {};
    return this.#door === "streamable-http" && revision !== undefined && allowsPriming(revision);
  }

  async #initialize(request: JsonRpcRequest): Promise<Outcome> {
    const { id } = request;
    // Also while the handshake is under way: there is one upstream session for each of ours.
    if (this.#dispatch !== undefined) {
      return refuse(400, ErrorCode.InvalidRequest, "The session is initialized already", id);
    }
    const client = parseInitialize(request.params);
    if (typeof client === "string") {
      return this.#answer(respond(id, errorReply(ErrorCode.InvalidParams, client)));
    }
    const dispatch = this.#connect(client, this.#unsolicited);
    this.#dispatch = dispatch;
    const opening = await dispatch.open();
    // Ended in the meantime: `close` has taken care of the upstream.
    if (this.#dispatch !== dispatch) return { kind: "unknown" };
    if ("error" in opening) {
      this.#dispatch = undefined;
      return this.#answer(respond(id, { error: opening.error }));
    }
    this.#client = client;
    this.#onOpened(client);
    const body = respond(id, { result: answerInitialize(client, opening) });
    // The stream of HTTP+SSE is open since before the handshake.
    if (this.#door === "http+sse") dispatch.listen();
    const outcome = await this.#answer(body);
    return outcome.kind === "json" ? { ...outcome, isOpened: true } : outcome;
  }

  /** One response, as the front door carries it. */
  async #answer(body: JsonRpcResponse): Promise<Outcome> {
    if (this.#door === "streamable-http") return { kind: "json", body };
    await this.#streams.sendUnsolicited(body);
    return { kind: "accepted" };
  }

  #refuseStream(id?: RequestId): Outcome {
    const message = `This session has ${this.#limits.maxOpenStreams} streams open; close one`;
    return refuse(429, ErrorCode.Transport, message, id);
  }

  #refuseRequests(requests: readonly JsonRpcRequest[]): Outcome | undefined {
    if (this.#inFlight.size + requests.length > this.#limits.maxInFlight) {
      const message = `More than ${this.#limits.maxInFlight} requests at once in this session`;
      return refuse(429, ErrorCode.Transport, message, requests[0]?.id);
    }
    const ids = new Set<RequestId>();
    for (const { id, method } of requests) {
      if (method === "initialize") {
        return refuse(400, ErrorCode.InvalidRequest, "initialize must not be part of a batch");
      }
      if (this.#inFlight.has(id) || ids.has(id)) {
        const message = "This request id is in use by a request that still runs";
        return refuse(400, ErrorCode.InvalidRequest, message, id);
      }
      ids.add(id);
    }
    return undefined;
  }

  async #receiveNotification({ method, params }: JsonRpcNotification): Promise<void> {
    const call: Call = params === undefined ? { method } : { method, params };
    if (method === "notifications/cancelled") {
      const { requestId, reason } = params ?? {};
      if (!isRequestId(requestId)) return;
      const why = typeof reason === "string" ? reason : "The client cancelled the request";
      this.#inFlight.get(requestId)?.abort(new Error(why));
      return;
    }
    if (method === "notifications/progress") {
      const progressToken = this.#asks.originalToken(params?.["progressToken"]);
      if (progressToken === undefined) return;
      await this.#dispatch?.notify({ method, params: { ...params, progressToken } });
      return;
    }
    await this.#dispatch?.notify(call);
  }

  /**
   * Runs the requests of one POST. The answer is a stream as soon as something may come before
   * the reply, or the reply takes its time; else it is one JSON body.
   */
  #run(requests: readonly JsonRpcRequest[], isBatch: boolean): Promise<Outcome> | Outcome {
    const firstId = requests[0]?.id;
    if (this.#door === "http+sse") {
      const send = (body: JsonRpcResponse): Promise<void> => this.#streams.sendUnsolicited(body);
      void this.#settleAll(requests, this.#unsolicited, send);
      return { kind: "accepted" };
    }
    if (this.#streams.isFull) return this.#refuseStream(firstId);
    const answer = new Answer(() => {
      const opened = this.#streams.open("post");
      this.#startStream(opened.stream);
      return opened;
    }, this.#limits.streamAfterMs);
    if (isBatch) answer.open();
    const peer: Peer = {
      ...this.#peerOn((message) => answer.open().send(message)),
      opened: () => void answer.open(),
      released: () => {
        if (this.#isPolling()) answer.release();
      },
    };
    void this.#settleAll(requests, peer, (body) => answer.reply(body)).then(() =>
      answer.end(firstId),
    );
    return answer.outcome;
  }

  async #settleAll(
    requests: readonly JsonRpcRequest[],
    peer: Peer,
    send: (body: JsonRpcResponse) => Promise<void>,
  ): Promise<void> {
    await Promise.all(
      requests.map(async (request) => {
        const reply = await this.#execute(request, peer);
        if (reply !== undefined) await send(respond(request.id, reply));
      }),
    );
  }

  /** @returns `undefined` for a request that was cancelled: it gets no answer. */
  async #execute({ id, method, params }: JsonRpcRequest, peer: Peer): Promise<Reply | undefined> {
    if (method === "ping") return { result: {} };
    const dispatch = this.#dispatch;
    if (dispatch === undefined) return undefined;
    const controller = new AbortController();
    this.#inFlight.set(id, controller);
    try {
      const call = params === undefined ? { method } : { method, params };
      return await dispatch.request(call, peer, controller.signal);
    } catch (error) {
      if (controller.signal.aborted) return undefined;
      throw error;
    } finally {
      this.#inFlight.delete(id);
    }
  }

  readonly #unsolicited: Peer = this.#peerOn((message) => this.#streams.sendUnsolicited(message));

  #peerOn(send: (message: Parameters<SessionStream["send"]>[0]) => Promise<void>): Peer {
    return {
      notify: ({ method, params }) => send(notification(method, params)),
      ask: (request, withdrawn) => this.#asks.ask(request, send, withdrawn),
    };
  }
}
