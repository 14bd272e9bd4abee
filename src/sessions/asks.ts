/**
 * The server requests that a session has sent to its client and that have no answer yet. The id of a
 * question is the id of its event: if this table is lost, the log still finds the server that asked.
 */

import { parseEventId, type Position } from "./log/event-id.ts";
import type { EventLog } from "./log/event-log.ts";
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
import { replaceProgressToken } from "../protocol/envelope.ts";
import type { Dispatch } from "./dispatch.ts";

/** A question's origin and delivery, beside the request itself. */
export interface QuestionFacts {
  /** Finds the server that asked, in every life of the session's object. */
  readonly resumeToken: string | undefined;
  /** Resolves when the server has the answer. */
  readonly delivered: Promise<void> | undefined;
}

interface Pending extends QuestionFacts {
  /** Changes once when a question that waited in the backlog moves to a stream, before it is sent. */
  id: RequestId;
  readonly progressToken: RequestId | undefined;
  settle(reply: Reply): void;
}

/** The one stream that carries a question. */
export interface QuestionStream {
  /** @returns the id of the event that is sent next. */
  nextId(): string;
  /** @param resumeToken resumes the server's stream after this message. */
  send(message: JsonRpcMessage, resumeToken?: string): Promise<void>;
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

  /** @param onGivenUp called for a question whose answer no later life accepts. */
  constructor(timeoutMs: number, onGivenUp: (id: RequestId) => void) {
    this.#timeoutMs = timeoutMs;
    this.#onGivenUp = onGivenUp;
  }

  /** Sends a question and waits for the answer, the withdrawal or the time-out. Never rejects. */
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
      const sent = carrier.send(
        params === undefined ? question : { ...question, params },
        facts.resumeToken,
      );
      this.#endWithLife(waiting);
      return sent;
    });
  }

  /** Waits for the answer to a question that the client already has. Never rejects. */
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

  /** @returns `undefined` for a question that was never sent here, is answered, or is given up. */
  find(id: RequestId): QuestionFacts | undefined {
    return this.#pending.get(id);
  }

  /** Answers a pending question. */
  settle(id: RequestId, reply: Reply): void {
    this.#pending.get(id)?.settle(reply);
  }

  /** Changes the id of a question that the client has not received yet. */
  move(from: RequestId, to: RequestId): void {
    const pending = this.#pending.get(from);
    if (pending === undefined) return;
    this.#pending.delete(from);
    pending.id = to;
    this.#pending.set(to, pending);
    this.#endWithLife(pending);
  }

  /**
   * Without a resume token of its own, nobody waits for the answer in a later life, which would take the token of the
   * stream's last message for that of this question.
   */
  #endWithLife({ id, resumeToken }: Pick<Pending, "id" | "resumeToken">): void {
    if (resumeToken === undefined) this.#onGivenUp(id);
  }

  /** @returns the server's own progress token for the one that the client received. */
  originalToken(token: unknown): RequestId | undefined {
    return isRequestId(token) ? this.#pending.get(token)?.progressToken : undefined;
  }
}

/**
 * The place of a question in the log, in every life of the session's object.
 *
 * @returns `undefined` for an id that no question can have.
 */
export function placeOfQuestion(id: RequestId): Position | undefined {
  return typeof id === "string" ? parseEventId(id) : undefined;
}

interface TakenAnswer {
  /** The place of the question's event. */
  readonly position: Position;
  readonly resumeToken: string;
  readonly reply: Reply;
}

/**
 * Delivers a kept answer to the server that asked in an earlier life of the session's object. Never
 * rejects. An answer that cannot be delivered now is delivered in the object's next
 * life.
 */
export async function deliverAnswer(
  log: EventLog,
  dispatch: Dispatch,
  { position, resumeToken, reply }: TakenAnswer,
): Promise<void> {
  if (await dispatch.answer(resumeToken, reply)) log.answerDelivered(position);
}

// The questions in a log are recognized by the beginning of their texts: a log may be larger than the
// memory, and few of its events have to be parsed.
const QUESTION = /^\{"jsonrpc":"2\.0","id":"([^"\\]+)","method":/;
const WITHDRAWAL =
  /^\{"jsonrpc":"2\.0","method":"notifications\/cancelled","params":\{"requestId":"([^"\\]+)"/;

/** @returns the id of a question that the session has sent to its client. */
export function idOfQuestion(data: string): string | undefined {
  return QUESTION.exec(data)?.[1];
}

/** @returns the id of the question that the session withdraws. */
function idOfWithdrawn(data: string): string | undefined {
  return WITHDRAWAL.exec(data)?.[1];
}

/**
 * Gives the questions that waited for a stream the ids of their events. When the session's object has
 * lost its memory, a question is found by its place alone.
 */
export class Renaming {
  readonly #renamed: (from: string, to: string) => void;
  readonly #ids = new Map<string, string>();

  /** @param renamed called for each question. */
  constructor(renamed: (from: string, to: string) => void) {
    this.#renamed = renamed;
  }

  /** @returns the message for the event of this id. */
  placed(data: string, id: string): string {
    const question = idOfQuestion(data);
    if (question !== undefined) {
      this.#ids.set(question, id);
      this.#renamed(question, id);
      return rename(data, question, id);
    }
    const withdrawn = idOfWithdrawn(data);
    const placed = withdrawn === undefined ? undefined : this.#ids.get(withdrawn);
    return withdrawn === undefined || placed === undefined ? data : rename(data, withdrawn, placed);
  }
}

/** The id of a waiting question is random, so it occurs in the text only as the question's id. */
function rename(data: string, from: string, to: string): string {
  return data.replaceAll(JSON.stringify(from), JSON.stringify(to));
}
