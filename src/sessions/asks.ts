/**
 * The questions a session has put to its client and waits on. Ids and progress tokens are the
 * gateway's own; the answers find their way back through this table.
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

/** Puts a message on the one stream that a question belongs to. */
export type SendMessage = (message: JsonRpcMessage) => Promise<void>;

export class Asks {
  readonly #pending = new Map<RequestId, Pending>();
  readonly #timeoutMs: number;
  readonly #life: string;
  #count = 0;

  /** @param life makes ids unique beyond the holder's eviction. */
  constructor(options: { timeoutMs: number; life: string }) {
    this.#timeoutMs = options.timeoutMs;
    this.#life = options.life;
  }

  /** Asks, and waits for the answer, the withdrawal or the time-out. Never rejects. */
  async ask(call: Call, send: SendMessage, withdrawn: AbortSignal): Promise<Reply> {
    const id = `${this.#life}-${++this.#count}`;
    const { params, original } = replaceProgressToken(call.params, id);

    const { promise, resolve } = Promise.withResolvers<Reply>();
    this.#pending.set(id, { progressToken: original, settle: resolve });

    const giveUp = (why: string): void => {
      resolve(errorReply(ErrorCode.InternalError, why));
      // The client need not go on asking its user (cancellation: SHOULD).
      const params = { requestId: id, reason: why };
      void send(notification("notifications/cancelled", params));
    };
    const onWithdrawn = (): void => giveUp("The server withdrew the request");
    const timer = setTimeout(() => giveUp("The client did not answer in time"), this.#timeoutMs);
    withdrawn.addEventListener("abort", onWithdrawn, { once: true });
    try {
      await send({
        jsonrpc: "2.0",
        id,
        method: call.method,
        ...(params === undefined ? {} : { params }),
      });
      return await promise;
    } finally {
      clearTimeout(timer);
      withdrawn.removeEventListener("abort", onWithdrawn);
      this.#pending.delete(id);
    }
  }

  /** Takes a client's answer. One to a question never asked, or answered before, finds nobody. */
  settle(id: RequestId, reply: Reply): void {
    this.#pending.get(id)?.settle(reply);
  }

  /** The server's own progress token behind one that the client speaks of. */
  originalToken(token: unknown): RequestId | undefined {
    return isRequestId(token) ? this.#pending.get(token)?.progressToken : undefined;
  }
}
