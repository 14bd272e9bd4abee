/**
 * The requests in flight on one legacy connection. Routes every message of the server to the request
 * that it belongs to. Ids and progress tokens are minted here, for this hop only; the client's own
 * are restored on the way down, with their type.
 */

import { logUnexpected } from "../../observability/unexpected.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call, OpenQuestion } from "../../protocol/exchange.ts";
import {
  type ErrorObject,
  errorReply,
  idKey,
  isRequestId,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type Parsed,
  replyOf,
  type Reply,
  type RequestId,
  respond,
} from "../../protocol/json-rpc.ts";
import { replaceProgressToken } from "../../protocol/envelope.ts";
import {
  isOfSession,
  type MessageOrigin,
  readResumeToken,
  type Recipient,
  type ResumePoint,
} from "./resume-token.ts";
import type { MessageSession } from "./wire.ts";

/** The resume point of a request. */
export type Addressed = ResumePoint & Required<Pick<ResumePoint, "request">>;

/** A server with more open requests than this to one client gets errors for the rest. */
const MAX_OPEN_ASKS = 64;

export interface Exchange {
  /** Its request's id on this hop. */
  readonly id: RequestId;
  readonly reply: Promise<Reply>;
  readonly isSettled: () => boolean;
  /** Withdraws the exchange and its open server requests: a late answer is dropped. */
  drop(): void;
}

interface Pending {
  readonly recipient: Recipient;
  readonly progressToken: RequestId | undefined;
  settle(reply: Reply): void;
}

interface OpenAsk {
  readonly recipient: Recipient;
  readonly controller: AbortController;
  /** The exchange that it was attributed to is over. */
  isOrphan: boolean;
}

export interface ExchangesOptions {
  /**
   * A message of the server does not say which request it is about: while other requests run, a question outlives the
   * one that it was attributed to, since it may be about any of them.
   */
  readonly isUnaddressed?: boolean | undefined;
  readonly maxOpenAsks?: number | undefined;
}

export class Exchanges {
  readonly #pending = new Map<RequestId, Pending>();
  /** By session and the server's id: after a repair, streams of the session before may go on. */
  readonly #asks = new Map<string, OpenAsk>();
  /** The recipients of the questions of an earlier life, answered or not, while their exchanges run. */
  readonly #resumed = new Map<string, Recipient>();
  readonly #answer: (session: MessageSession, response: JsonRpcResponse) => Promise<boolean>;
  readonly #refusalOf: (question: Call) => ErrorObject | undefined;
  readonly #maxOpenAsks: number;
  readonly #isUnaddressed: boolean;
  // Ids are never reused within an upstream session, which may outlive this object.
  readonly #nonce = crypto.randomUUID().slice(0, 8);
  #count = 0;

  /**
   * @param answer sends a response to one of the server's own requests, in the session in which that came. Never
   *   rejects; resolves to `true` when the server has received or refused it.
   * @param refusalOf returns the error for a server request that no client is asked.
   */
  constructor(
    answer: (session: MessageSession, response: JsonRpcResponse) => Promise<boolean>,
    refusalOf: (question: Call) => ErrorObject | undefined,
    { isUnaddressed = false, maxOpenAsks = MAX_OPEN_ASKS }: ExchangesOptions = {},
  ) {
    this.#answer = answer;
    this.#refusalOf = refusalOf;
    this.#maxOpenAsks = maxOpenAsks;
    this.#isUnaddressed = isUnaddressed;
  }

  /** The recipient of the only running request, if there is exactly one. */
  get sole(): Recipient | undefined {
    if (this.#pending.size !== 1) return undefined;
    for (const { recipient } of this.#pending.values()) return recipient;
  }

  /** Gives a request a fresh id and, if the client requested progress, a fresh token. */
  address(call: Call): { readonly message: JsonRpcRequest; readonly resumePoint: Addressed } {
    const id = `${this.#nonce}-${++this.#count}`;
    const { params, original } = replaceProgressToken(call.params, id);
    const message: JsonRpcRequest = {
      jsonrpc: "2.0",
      id,
      method: call.method,
      ...(params === undefined ? {} : { params }),
    };
    const progressToken = original === undefined ? {} : { progressToken: original };
    const taskId = call.method === "tasks/result" ? call.params?.["taskId"] : undefined;
    const task = typeof taskId === "string" ? { task: taskId } : {};
    return { message, resumePoint: { request: id, ...progressToken, ...task } };
  }

  /** Registers a request that is about to be sent, or was sent before a restart. */
  start({ request: id, progressToken }: Addressed, recipient: Recipient): Exchange {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const exchange: Exchange = {
      id,
      reply: promise,
      isSettled: () => !this.#pending.has(id),
      drop: () => {
        this.#pending.delete(id);
        this.#withdrawAsks(recipient);
      },
    };
    this.#pending.set(id, {
      recipient,
      progressToken,
      settle: (reply) => {
        exchange.drop();
        resolve(reply);
      },
    });
    return exchange;
  }

  /**
   * Takes one message of the server.
   *
   * @param recipient of the stream it came on: an exchange's, or the one for unsolicited messages.
   * @param session `undefined` for one that the server has forgotten: its questions are dropped, since nobody could
   *   answer them there, and no stream can be resumed after its events.
   * @returns when the recipient has room for more. Server requests are not waited for, so that
   *   reading their stream goes on.
   */
  async receive(
    parsed: Parsed,
    recipient: Recipient,
    session: MessageSession | undefined,
    lastEventId?: string,
  ): Promise<void> {
    const origin: MessageOrigin = {
      ...(lastEventId === undefined || session === undefined ? {} : { lastEventId }),
      session: session?.sessionMark,
    };
    switch (parsed.kind) {
      case "response":
        // A response with an unknown id is late, doubled, or made up.
        if (parsed.message.id !== undefined) {
          this.#pending.get(parsed.message.id)?.settle(replyOf(parsed.message));
        }
        return;
      case "notification":
        return this.#receiveNotification(parsed.message, recipient, origin);
      case "request":
        if (session === undefined) return;
        if (parsed.message.method === "ping") {
          // Nothing that comes after it waits for a server that cannot take the answer yet.
          void this.#answer(session, respond(parsed.message.id, { result: {} }));
          return;
        }
        void this.#ask(parsed.message, recipient, session, origin);
    }
  }

  async #receiveNotification(
    message: JsonRpcNotification,
    recipient: Recipient,
    origin: MessageOrigin,
  ): Promise<void> {
    const { method, params } = message;
    if (method === "notifications/cancelled") {
      const id = params?.requestId;
      if (isRequestId(id)) this.#asks.get(askKey(origin.session, id))?.controller.abort();
      return;
    }
    if (method === "notifications/progress") {
      const token = params?.progressToken;
      const pending = isRequestId(token) ? this.#pending.get(token) : undefined;
      // Progress of a finished or unknown request is dropped: by the specification it ends with its request.
      if (pending?.progressToken === undefined) return;
      const notice = { method, params: { ...params, progressToken: pending.progressToken } };
      // An event id of one stream is no position in another.
      await pending.recipient.notify(notice, pending.recipient === recipient ? origin : {});
      return;
    }
    await recipient.notify(params === undefined ? { method } : { method, params }, origin);
  }

  async #ask(
    message: JsonRpcRequest,
    recipient: Recipient,
    session: MessageSession,
    origin: MessageOrigin,
  ): Promise<void> {
    const { id, method, params } = message;
    const isInUse = this.#asks.has(askKey(session.sessionMark, id));
    if (isInUse || this.#asks.size >= this.#maxOpenAsks) {
      const why = isInUse ? "this id is in use" : "too many open requests";
      const refused = errorReply(ErrorCode.InvalidRequest, `Refused: ${why}`);
      await this.#answer(session, respond(id, refused));
      return;
    }
    const question = params === undefined ? { method } : { method, params };
    const error = this.#refusalOf(question);
    if (error !== undefined) {
      await this.#answer(session, respond(id, { error }));
      return;
    }
    await this.#await(id, recipient, session, (withdrawn, delivered) =>
      recipient.ask(question, withdrawn, { ...origin, ask: id }, delivered),
    );
  }

  /**
   * Goes on waiting for the answer to a server request that was open before a restart.
   *
   * @param session that its call goes on in.
   */
  resumeAsk(
    { resumeToken, wait }: OpenQuestion,
    recipient: Recipient,
    session: MessageSession,
  ): void {
    const point = readResumeToken(resumeToken);
    const { ask: id } = point;
    if (id === undefined || !isOfSession(point, session)) return;
    const key = askKey(session.sessionMark, id);
    this.#resumed.set(key, recipient);
    if (!this.#asks.has(key)) void this.#await(id, recipient, session, wait);
  }

  async #await(
    id: RequestId,
    recipient: Recipient,
    session: MessageSession,
    wait: OpenQuestion["wait"],
  ): Promise<void> {
    const ask: OpenAsk = { recipient, controller: new AbortController(), isOrphan: false };
    const key = askKey(session.sessionMark, id);
    this.#asks.set(key, ask);
    const { promise: delivered, resolve } = Promise.withResolvers<void>();
    let reply: Reply;
    try {
      reply = await wait(ask.controller.signal, delivered);
    } catch (error) {
      // No caller awaits this promise, but the server still waits for an answer.
      const sentence = `The gateway failed to ask this (reference ${logUnexpected(error)})`;
      reply = errorReply(ErrorCode.InternalError, sentence);
    }
    this.#asks.delete(key);
    // A withdrawn request gets no answer.
    if (ask.controller.signal.aborted) return;
    if (await this.#answer(session, respond(id, reply))) resolve();
  }

  /** True for a question that was put to the client in an earlier life of an exchange that runs. */
  isResumed({ kind, message }: Parsed, sessionMark: string | undefined): boolean {
    return kind === "request" && this.#resumed.has(askKey(sessionMark, message.id));
  }

  #withdrawAsks(recipient: Recipient): void {
    for (const [key, other] of this.#resumed) {
      if (other === recipient) this.#resumed.delete(key);
    }
    const mayBeOfOthers = this.#isUnaddressed && this.#pending.size > 0;
    for (const ask of this.#asks.values()) {
      ask.isOrphan ||= ask.recipient === recipient;
      if (ask.isOrphan && !mayBeOfOthers) ask.controller.abort();
    }
  }

  /** Withdraws every open server request, because their connection is gone. */
  withdrawAllAsks(): void {
    for (const ask of this.#asks.values()) ask.controller.abort();
  }
}

function askKey(sessionMark: string | undefined, id: RequestId): string {
  return `${sessionMark ?? ""} ${idKey(id)}`;
}
