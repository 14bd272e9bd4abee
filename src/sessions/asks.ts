/**
 * The questions a session has put to its client and waits on. The id of a question is the id of
 * the event that it goes out in: should this table be lost, the log still knows whose it was.
 */

import { parseEventId, type Position } from "./log/event-id.ts";
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

/** What there is to know of a question beside what is asked. */
export interface QuestionFacts {
  /** Leads to whoever asked, in every life of the session's holder. */
  readonly ticket: string | undefined;
  /** Resolves when the server has the answer. */
  readonly brought: Promise<void> | undefined;
}

interface Pending extends QuestionFacts {
  /** It may be moved: before a client sees it, to the place where it sees it. */
  id: RequestId;
  readonly progressToken: RequestId | undefined;
  settle(reply: Reply): void;
}

/** The one stream that a question belongs to. */
export interface QuestionStream {
  /** The id of the event that is sent next. */
  nextId(): string;
  /** @param ticket what takes the upstream up after this message. */
  send(message: JsonRpcMessage, ticket?: string): Promise<void>;
}

interface Waiting extends QuestionFacts {
  readonly id: RequestId;
  readonly progressToken: RequestId | undefined;
  readonly carrier: QuestionStream;
  readonly withdrawn: AbortSignal;
}

export class Asks {
  readonly #pending = new Map<RequestId, Pending>();
  readonly #timeoutMs: number;
  readonly #onGivenUp: (id: RequestId) => void;

  /** @param onGivenUp called for a question that no answer is taken to any more. */
  constructor(timeoutMs: number, onGivenUp: (id: RequestId) => void) {
    this.#timeoutMs = timeoutMs;
    this.#onGivenUp = onGivenUp;
  }

  /** Asks, and waits for the answer, the withdrawal or the time-out. Never rejects. */
  async ask(
    call: Call,
    carrier: QuestionStream,
    withdrawn: AbortSignal,
    facts: QuestionFacts,
  ): Promise<Reply> {
    const id = carrier.nextId();
    const { params, original } = replaceProgressToken(call.params, id);
    const waiting = { ...facts, id, progressToken: original, carrier, withdrawn };
    return this.#wait(waiting, () => {
      const question = { jsonrpc: "2.0", id, method: call.method } as const;
      return carrier.send(params === undefined ? question : { ...question, params }, facts.ticket);
    });
  }

  /** Waits for the answer to a question that the client has already. Like `ask`. */
  resume(waiting: Omit<Waiting, "progressToken">): Promise<Reply> {
    return this.#wait({ ...waiting, progressToken: undefined });
  }

  async #wait(
    { carrier, withdrawn, ...question }: Waiting,
    send?: () => Promise<void>,
  ): Promise<Reply> {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const pending: Pending = { ...question, settle: resolve };
    this.#pending.set(pending.id, pending);

    const giveUp = (why: string): void => {
      resolve(errorReply(ErrorCode.InternalError, why));
      this.#onGivenUp(pending.id);
      // The client need not go on asking its user (cancellation: SHOULD).
      const params = { requestId: pending.id, reason: why };
      void carrier.send(notification("notifications/cancelled", params));
    };
    const onWithdrawn = (): void => giveUp("The server withdrew the request");
    const timer = setTimeout(() => giveUp("The client did not answer in time"), this.#timeoutMs);
    withdrawn.addEventListener("abort", onWithdrawn, { once: true });
    try {
      await send?.();
      return await promise;
    } finally {
      clearTimeout(timer);
      withdrawn.removeEventListener("abort", onWithdrawn);
      this.#pending.delete(pending.id);
    }
  }

  get isIdle(): boolean {
    return this.#pending.size === 0;
  }

  /** A question that waits; `undefined` when it was never asked here, or is answered or given up. */
  find(id: RequestId): QuestionFacts | undefined {
    return this.#pending.get(id);
  }

  /** Answers a question that waits. */
  settle(id: RequestId, reply: Reply): void {
    this.#pending.get(id)?.settle(reply);
  }

  /** A question that nobody has seen yet goes out under another id. */
  move(from: RequestId, to: RequestId): void {
    const pending = this.#pending.get(from);
    if (pending === undefined) return;
    this.#pending.delete(from);
    pending.id = to;
    this.#pending.set(to, pending);
  }

  /** The server's own progress token behind one that the client speaks of. */
  originalToken(token: unknown): RequestId | undefined {
    return isRequestId(token) ? this.#pending.get(token)?.progressToken : undefined;
  }
}

/**
 * The place where the log has a question, in every life of the session's holder.
 *
 * @returns `undefined` for an id that is none of a question's.
 */
export function placeOfQuestion(id: RequestId): Position | undefined {
  return typeof id === "string" ? parseEventId(id) : undefined;
}
