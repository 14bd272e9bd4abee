/**
 * One connection to a published server: a process on its person's machine, or a share of one. The gateway's
 * connectors reach it over Streamable HTTP. A session of the legacy era has a channel of its own, whose id is
 * the session's; its connector gives each request an id of its own already, so texts pass as they are. All
 * requests of the modern era share one channel, so each gets an id there, and its own one back.
 */

import { tryLossless } from "../lib/lossless-json.ts";
import { isChangeNotice } from "../protocol/change-notices.ts";
import { Meta, metaOf, replaceProgressToken, withMeta } from "../protocol/envelope.ts";
import { ErrorCode, isModernErrorCode } from "../protocol/error-codes.ts";
import type { Call } from "../protocol/exchange.ts";
import { CLIENT_INFO } from "../protocol/gateway-info.ts";
import {
  type ErrorObject,
  errorReply,
  idKey,
  isObject,
  isRequestId,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type Parsed,
  parseMessage,
  readableId,
  type Reply,
  replyOf,
  type RequestId,
  respond,
} from "../protocol/json-rpc.ts";
import { refusalOfSize } from "../protocol/publishing.ts";
import { LATEST_MODERN } from "../protocol/revisions.ts";
import { type CallInFlight, CallStream } from "./call-stream.ts";

export interface ChannelOptions {
  readonly id: string;
  /** All requests of the modern era share it. */
  readonly isShared: boolean;
  /** It was opened in another life of the object. */
  readonly isKnown: boolean;
  readonly windowBytes: number;
  /** Sends a message to the local server. @returns `false` when its machine is not connected. */
  readonly send: (body: string) => boolean;
  /** Called when a discovery was refused: the local server has no modern era, so nothing is sent here again. */
  readonly onLegacy: () => void;
}

const DISCOVER = "server/discover";
const DISCOVERY: Call = {
  method: DISCOVER,
  params: {
    _meta: {
      [Meta.protocolVersion]: LATEST_MODERN,
      [Meta.clientCapabilities]: {},
      [Meta.clientInfo]: CLIENT_INFO,
    },
  },
};
const KNOWN: Reply = { result: {} };
const NO_MESSAGE = "The published server has answered with something that is not MCP";

/** JSON-RPC ids of other implementations may have 32 bits. */
const MAX_FIRST_ID = 2 ** 30;

export class Channel {
  readonly id: string;
  readonly #options: ChannelOptions;
  /** By the keys of the ids that the local server has. */
  readonly #calls = new Map<string, CallInFlight>();
  #standalone: CallStream | undefined;
  /** What the local server has answered to a discovery: it is known of a channel that has stayed open. */
  #discovery: Promise<Reply> | undefined;
  #hasAnswered: boolean;
  /** Another life of the object may have requests in flight: their late answers must find no call of this one. */
  #lastId = Math.floor(Math.random() * MAX_FIRST_ID);

  constructor(options: ChannelOptions) {
    this.id = options.id;
    this.#options = options;
    this.#hasAnswered = options.isKnown;
    if (options.isKnown) this.#discovery = Promise.resolve(KNOWN);
  }

  get callCount(): number {
    return [...this.#calls.values()].filter(isRunning).length;
  }

  /**
   * Sends a request to the local server.
   *
   * @param text as it came.
   * @returns the response; `undefined` when the machine is not connected, so that the request did not run.
   */
  request(message: JsonRpcRequest, text: string, signal: AbortSignal): Response | undefined {
    const { isShared } = this.#options;
    const id: RequestId = isShared ? ++this.#lastId : message.id;
    const { params, original } = replaceProgressToken(message.params, id);
    const sent = { ...message, id, ...(params !== undefined && { params }) };
    if (!this.#options.send(isShared ? JSON.stringify(sent) : text)) return undefined;
    const key = idKey(id);
    const stream = this.#stream(() => this.#abandoned(key, id));
    this.#calls.set(key, {
      stream,
      id: message.id,
      progressToken: isShared ? original : undefined,
      method: message.method,
    });
    signal.addEventListener("abort", () => this.#abandoned(key, id), { once: true });
    return stream.response;
  }

  /**
   * A process is another one than an hour ago, and may be of another era: it gets a request of the modern one after
   * it has answered a discovery.
   *
   * @returns the error of a process that has no modern era, or that has not answered.
   */
  async refusal(): Promise<ErrorObject | undefined> {
    const reply = await (this.#discovery ??= this.#discover());
    return "error" in reply && !isModernErrorCode(reply.error.code) ? reply.error : undefined;
  }

  /** Sends a notification or an answer. @returns `false` when the machine is not connected. */
  send(text: string): boolean {
    return this.#options.send(text);
  }

  /** Opens the stream for what belongs to no request: the newest one gets it. */
  listen(): Response {
    this.#standalone?.end();
    const stream = this.#stream(() => {
      if (this.#standalone === stream) this.#standalone = undefined;
    });
    this.#standalone = stream;
    return stream.response;
  }

  /** Takes a message of the local server. */
  receive(text: string): void {
    const value = tryLossless(text);
    const parsed = parseMessage(value);
    const tooLarge = refusalOfSize(text);
    if (parsed !== undefined && tooLarge !== undefined) return this.#refused(parsed, tooLarge);
    switch (parsed?.kind) {
      case "response":
        return this.#answered(parsed, text);
      case "notification":
        return this.#notified(parsed.message, text);
      case "request":
        return this.#asked(parsed.message, text);
      case undefined:
        return this.#misunderstood(value);
    }
  }

  #discover(): Promise<Reply> {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const id = ++this.#lastId;
    const stream = {
      send: (text: string) => resolve(replyOf(JSON.parse(text) as JsonRpcResponse)),
      end: () => resolve(errorReply(ErrorCode.InternalError, "has not answered")),
    };
    this.#calls.set(idKey(id), { stream, id, progressToken: undefined, method: DISCOVER });
    if (!this.#options.send(JSON.stringify({ jsonrpc: "2.0", id, ...DISCOVERY }))) {
      this.#calls.delete(idKey(id));
      resolve(errorReply(ErrorCode.InternalError, "is not connected"));
    }
    return promise;
  }

  /**
   * The channel is over: each request in flight gets an error.
   *
   * @param hasExited its process has ended by itself.
   */
  end(sentence: string, hasExited = false): void {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    // Some servers of the session era end at whatever comes before a handshake.
    const isRefusal = hasExited && !this.#hasAnswered;
    for (const call of calls) {
      if (isRefusal && call.method === DISCOVER) answer(call, ErrorCode.MethodNotFound, sentence);
      else fail(call, sentence);
    }
    this.#standalone?.end();
    this.#standalone = undefined;
  }

  /** A message that is too large ends its own request, and nothing else. */
  #refused({ kind, message }: Parsed, sentence: string): void {
    if (kind === "notification" || message.id === undefined) return;
    if (kind === "request") {
      const reply = errorReply(ErrorCode.InvalidRequest, sentence);
      this.#options.send(JSON.stringify(respond(message.id, reply)));
      return;
    }
    const call = this.#take(message.id);
    if (call !== undefined) fail(call, sentence);
  }

  /** An answer that is no message ends its own request: nothing else comes for that. */
  #misunderstood(value: unknown): void {
    // The id of a request is the local server's own.
    if (!isObject(value) || value["method"] !== undefined) return;
    const id = readableId(value);
    const call = id === undefined ? undefined : this.#take(id);
    if (call !== undefined) fail(call, NO_MESSAGE);
  }

  #answered({ message }: Extract<Parsed, { kind: "response" }>, text: string): void {
    // An error without an id is of the one request that may be meant.
    const call = message.id === undefined ? this.#takeSole() : this.#take(message.id);
    if (call === undefined) return;
    this.#hasAnswered = true;
    const isOwn = !this.#options.isShared && message.id !== undefined;
    const restored = isOwn ? text : JSON.stringify({ ...message, id: call.id });
    call.stream.send(singleLine(restored));
    call.stream.end();
    if (call.method === DISCOVER) this.#discovery ??= Promise.resolve(replyOf(message));
    const isRefused = call.method === DISCOVER && "error" in message;
    if (isRefused && this.#calls.size === 0 && !isModernErrorCode(message.error.code)) {
      this.#options.onLegacy();
    }
  }

  #notified(message: JsonRpcNotification, text: string): void {
    const { method, params } = message;
    if (method === "notifications/progress") {
      const token = params?.progressToken;
      const call = isRequestId(token) ? this.#calls.get(idKey(token)) : undefined;
      const isRestored = call?.progressToken !== undefined;
      const own = { ...message, params: { ...params, progressToken: call?.progressToken } };
      call?.stream.send(singleLine(isRestored ? JSON.stringify(own) : text));
      return;
    }
    const subscription = metaOf(params)[Meta.subscriptionId];
    if (isRequestId(subscription)) return this.#announced(message, subscription);
    if (this.#options.isShared && method === "notifications/cancelled") {
      const ended = params?.requestId;
      if (isRequestId(ended)) this.#take(ended)?.stream.end();
      return;
    }
    const stream = isChangeNotice(method)
      ? (this.#standalone ?? this.#newest?.stream)
      : this.#streamForUnaddressed;
    stream?.send(singleLine(text));
  }

  /** A message on a stream of `subscriptions/listen` names the request that it belongs to. */
  #announced(message: JsonRpcNotification, subscription: RequestId): void {
    const call = this.#calls.get(idKey(subscription));
    if (call === undefined) return;
    const { params } = message;
    const meta = { ...metaOf(params), [Meta.subscriptionId]: call.id };
    call.stream.send(JSON.stringify({ ...message, params: withMeta(params, meta) }));
  }

  #asked({ id }: JsonRpcRequest, text: string): void {
    const stream = this.#streamForUnaddressed;
    if (stream === undefined) {
      const reply = errorReply(ErrorCode.InternalError, "No client is there to be asked");
      this.#options.send(JSON.stringify(respond(id, reply)));
    } else stream.send(singleLine(text));
  }

  /**
   * Over stdio a message does not say which request it is about. Where one runs it is that one; of several, the
   * gateway judges what comes on the standalone stream.
   */
  get #streamForUnaddressed(): CallInFlight["stream"] | undefined {
    if (this.callCount === 1) return this.#newest?.stream;
    return this.#standalone ?? this.#newest?.stream;
  }

  get #newest(): CallInFlight | undefined {
    return [...this.#calls.values()].findLast(isRunning);
  }

  #stream(onGone: () => void): CallStream {
    return new CallStream({ windowBytes: this.#options.windowBytes, onGone });
  }

  #take(id: RequestId): CallInFlight | undefined {
    const key = idKey(id);
    const call = this.#calls.get(key);
    this.#calls.delete(key);
    return call;
  }

  #takeSole(): CallInFlight | undefined {
    const [first, second] = [...this.#calls.entries()];
    if (first === undefined || second !== undefined) return undefined;
    this.#calls.delete(first[0]);
    return first[1];
  }

  /** Closing the stream cancels a request of 2026-07-28; a legacy client says so itself. */
  #abandoned(key: string, requestId: RequestId): void {
    if (!this.#calls.delete(key) || !this.#options.isShared) return;
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } };
    this.#options.send(JSON.stringify(cancelled));
  }
}

/** A stream of `subscriptions/listen` is no call: it waits for what the server announces. */
function isRunning({ method }: CallInFlight): boolean {
  return method !== "subscriptions/listen";
}

function fail(call: CallInFlight, sentence: string): void {
  // An error in its place would say that the server is of the session era: no answer says nothing.
  if (call.method === DISCOVER) call.stream.end();
  else answer(call, ErrorCode.InternalError, sentence);
}

function answer({ stream, id }: CallInFlight, code: ErrorObject["code"], sentence: string): void {
  stream.send(JSON.stringify(respond(id, errorReply(code, sentence))));
  stream.end();
}

/** A line break between two values of JSON means nothing, and would end a line of the stream. */
function singleLine(text: string): string {
  return text.replaceAll(/[\r\n]/g, " ");
}
