/**
 * The questions a session has put to its client and waits on. The id of a question is the id of
 * the event that it goes out in: should this table be lost, the log still knows whose it was.
 */

import { ErrorCode } from "../protocol/error-codes.ts";
import type { Call } from "../protocol/exchange.ts";
import {
  errorReply,
  isRequestId,
  type JsonRpcMessage,
  notification,
  type Reply,
  type RequestId,
} from "../protocol/json-rpc.ts";
import { replaceProgressToken } from "../protocol/progress-token.ts";

interface Pending {
  readonly progressToken: RequestId | undefined;
  settle(reply: Reply): void;
}

/** The one stream that a question belongs to. */
export interface Carrier {
  /** The id of the event that is sent next. */
  nextId(): string;
  /** @param ticket what takes the upstream up after this message. */
  send(message: JsonRpcMessage, ticket?: string): Promise<void>;
}

export class Asks {
  readonly #pending = new Map<RequestId, Pending>();
  readonly #timeoutMs: number;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Asks, and waits for the answer, the withdrawal or the time-out. Never rejects. */
  async ask(call: Call, carrier: Carrier, withdrawn: AbortSignal, ticket?: string): Promise<Reply> {
    const id = carrier.nextId();
    const { params, original } = replaceProgressToken(call.params, id);

    const { promise, resolve } = Promise.withResolvers<Reply>();
    this.#pending.set(id, { progressToken: original, settle: resolve });

    const giveUp = (why: string): void => {
      resolve(errorReply(ErrorCode.InternalError, why));
      // The client need not go on asking its user (cancellation: SHOULD).
      const params = { requestId: id, reason: why };
      void carrier.send(notification("notifications/cancelled", params));
    };
    const onWithdrawn = (): void => giveUp("The server withdrew the request");
    const timer = setTimeout(() => giveUp("The client did not answer in time"), this.#timeoutMs);
    withdrawn.addEventListener("abort", onWithdrawn, { once: true });
    try {
      const question = { jsonrpc: "2.0", id, method: call.method } as const;
      await carrier.send(params === undefined ? question : { ...question, params }, ticket);
      return await promise;
    } finally {
      clearTimeout(timer);
      withdrawn.removeEventListener("abort", onWithdrawn);
      this.#pending.delete(id);
    }
  }

  /** @returns `false` for an answer to a question never asked here, or answered before. */
  settle(id: RequestId, reply: Reply): boolean {
    const pending = this.#pending.get(id);
    pending?.settle(reply);
    return pending !== undefined;
  }

  /** The server's own progress token behind one that the client speaks of. */
  originalToken(token: unknown): RequestId | undefined {
    return isRequestId(token) ? this.#pending.get(token)?.progressToken : undefined;
  }
}
