/**
 * The requests in flight on one legacy connection, and the way of everything that comes back to
 * the right one of them. Ids and progress tokens are minted here, for this hop only; what the
 * client sent is restored on the way down, with its type.
 */

import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import {
  errorReply,
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
import { replaceProgressToken } from "../../protocol/progress-token.ts";

/** A server that asks more than this at once gets errors for the rest. */
const MAX_OPEN_ASKS = 64;

export interface Exchange {
  readonly message: JsonRpcRequest;
  readonly reply: Promise<Reply>;
  /** What arrives on the stream of this exchange is told to this peer. */
  readonly peer: Peer;
  readonly isSettled: () => boolean;
  /** Withdraws the exchange: a late answer finds nobody. Its open asks are withdrawn too. */
  drop(): void;
}

interface Pending {
  readonly exchange: Exchange;
  readonly progressToken: RequestId | undefined;
  settle(reply: Reply): void;
}

interface OpenAsk {
  readonly peer: Peer;
  readonly controller: AbortController;
}

export class Exchanges {
  readonly #pending = new Map<RequestId, Pending>();
  readonly #asks = new Map<RequestId, OpenAsk>();
  readonly #answer: (response: JsonRpcResponse) => Promise<void>;
  // Ids are never reused within an upstream session, which may outlive this object.
  readonly #nonce = crypto.randomUUID().slice(0, 8);
  #count = 0;

  /** @param answer sends a response to one of the server's own requests. */
  constructor(answer: (response: JsonRpcResponse) => Promise<void>) {
    this.#answer = answer;
  }

  /** Registers a request, with a fresh id and, if the client wants progress, a fresh token. */
  start(call: Call, peer: Peer): Exchange {
    const id = `${this.#nonce}-${++this.#count}`;
    const { params, original } = replaceProgressToken(call.params, id);
    const message: JsonRpcRequest = {
      jsonrpc: "2.0",
      id,
      method: call.method,
      ...(params === undefined ? {} : { params }),
    };

    const { promise, resolve } = Promise.withResolvers<Reply>();
    const exchange: Exchange = {
      message,
      reply: promise,
      peer,
      isSettled: () => !this.#pending.has(id),
      drop: () => {
        this.#pending.delete(id);
        this.#withdrawAsks(peer);
      },
    };
    this.#pending.set(id, {
      exchange,
      progressToken: original,
      settle: (reply) => {
        exchange.drop();
        resolve(reply);
      },
    });
    return exchange;
  }

  /**
   * Takes one message of the server's.
   *
   * @param peer whose stream it came on: an exchange's, or the one for unsolicited messages.
   * @returns when the receiver has room for more. Questions are not waited for, so that the
   *   stream they came on goes on being read.
   */
  async receive(parsed: Parsed, peer: Peer): Promise<void> {
    switch (parsed.kind) {
      case "response":
        // An unknown id is an answer to nobody: late, doubled, or made up.
        if (parsed.message.id !== undefined) {
          this.#pending.get(parsed.message.id)?.settle(replyOf(parsed.message));
        }
        return;
      case "notification":
        return this.#receiveNotification(parsed.message, peer);
      case "request":
        if (parsed.message.method === "ping") {
          await this.#answer(respond(parsed.message.id, { result: {} }));
          return;
        }
        void this.#ask(parsed.message, peer);
    }
  }

  async #receiveNotification(message: JsonRpcNotification, peer: Peer): Promise<void> {
    const { method, params } = message;
    if (method === "notifications/cancelled") {
      const id = params?.["requestId"];
      if (isRequestId(id)) this.#asks.get(id)?.controller.abort();
      return;
    }
    if (method === "notifications/progress") {
      const token = params?.["progressToken"];
      const pending = isRequestId(token) ? this.#pending.get(token) : undefined;
      // Progress of a finished or unknown request: the specification has it stop there.
      if (pending?.progressToken === undefined) return;
      await pending.exchange.peer.notify({
        method,
        params: { ...params, progressToken: pending.progressToken },
      });
      return;
    }
    await peer.notify(params === undefined ? { method } : { method, params });
  }

  async #ask(message: JsonRpcRequest, peer: Peer): Promise<void> {
    const { id, method, params } = message;
    if (this.#asks.has(id) || this.#asks.size >= MAX_OPEN_ASKS) {
      const why = this.#asks.has(id) ? "this id is in use" : "too many open requests";
      await this.#answer(respond(id, errorReply(ErrorCode.InvalidRequest, `Refused: ${why}`)));
      return;
    }
    const ask: OpenAsk = { peer, controller: new AbortController() };
    this.#asks.set(id, ask);
    const reply = await peer.ask(
      params === undefined ? { method } : { method, params },
      ask.controller.signal,
    );
    this.#asks.delete(id);
    // A withdrawn question gets no answer.
    if (!ask.controller.signal.aborted) await this.#answer(respond(id, reply));
  }

  #withdrawAsks(peer: Peer): void {
    for (const ask of this.#asks.values()) if (ask.peer === peer) ask.controller.abort();
  }

  /** Withdraws every question: the connection they came on is gone. */
  withdrawAllAsks(): void {
    for (const ask of this.#asks.values()) ask.controller.abort();
  }
}
