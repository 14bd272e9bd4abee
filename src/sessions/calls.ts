/** The client's requests in flight, by their ids, until each is answered or cancelled. */

import { tryLossless } from "../lib/lossless-json.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import type { OpenQuestion, Peer } from "../protocol/exchange.ts";
import {
  errorReply,
  idKey,
  isObject,
  isRequestId,
  lengthOfId,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type Reply,
  type RequestId,
  respond,
} from "../protocol/json-rpc.ts";
import type { Params } from "../protocol/message-members.ts";
import { isOfModernEraAlone } from "../protocol/methods.ts";
import type { Dispatch } from "./dispatch.ts";
import { refuseRequest, type RefusedRequest } from "./session-outcome.ts";

/** The reason of a call that ends early, and whose answer is an error with this message. */
export class EndedEarly extends Error {
  override readonly name: string = "EndedEarly";
}

/** The call's stream has no room left. */
export class LogFull extends EndedEarly {
  override readonly name = "LogFull";

  constructor() {
    super("The call was ended: its stream outgrew what the gateway keeps for a resume");
  }
}

/** A request that was in flight when an earlier life of the session's object ended. */
interface Resumed {
  readonly id: RequestId;
  readonly resumeToken: string | undefined;
  readonly asked: readonly OpenQuestion[];
}

/**
 * Answers the requests that need no server, at any time of a session: `ping`, and the requests that only
 * 2026-07-28 has. A client of both eras probes with `server/discover`, and falls back to `initialize` when
 * the method is not found (2026-07-28, versioning, compatibility).
 *
 * @returns `undefined` for a request that needs `initialize`, and then a server.
 */
export function answerAlone(method: string): Reply | undefined {
  if (method === "ping") return { result: {} };
  if (!isOfModernEraAlone(method)) return undefined;
  return errorReply(ErrorCode.MethodNotFound, `Method not found: no session has ${method}`);
}

/** Ids and progress tokens are stored with every event of a call. */
const MAX_ID_CHARS = 1024;

export class Calls {
  /** By the keys of their ids. */
  readonly #inFlight = new Map<string, AbortController>();
  /** Each resolves when its requests were answered. */
  readonly #answering = new Set<Promise<void>>();
  readonly #maxInFlight: number;
  readonly #onBusy: (isBusy: boolean) => void;

  /** @param onBusy called when the first call starts, and when the last one has ended. */
  constructor(maxInFlight: number, onBusy: (isBusy: boolean) => void) {
    this.#maxInFlight = maxInFlight;
    this.#onBusy = onBusy;
  }

  get isIdle(): boolean {
    return this.#inFlight.size === 0;
  }

  /** Checks the requests of one POST before any of them runs. */
  refusal(requests: readonly JsonRpcRequest[]): RefusedRequest | undefined {
    if (this.#inFlight.size + requests.length > this.#maxInFlight) {
      const message = `More than ${this.#maxInFlight} requests at once in this session`;
      return refuseRequest(429, ErrorCode.Transport, message, requests[0]?.id);
    }
    const keys = new Set<string>();
    for (const { id, method, params } of requests) {
      if (method === "initialize") {
        return refuseRequest(
          400,
          ErrorCode.InvalidRequest,
          "initialize must not be part of a batch",
        );
      }
      if (Math.max(lengthOfId(id), lengthOfId(progressTokenOf(params))) > MAX_ID_CHARS) {
        const message = `A request id or progress token has more than ${MAX_ID_CHARS} characters`;
        return refuseRequest(
          400,
          ErrorCode.InvalidRequest,
          message,
          requests.length === 1 ? id : undefined,
        );
      }
      const key = idKey(id);
      if (this.#inFlight.has(key) || keys.has(key)) {
        const message = "This request id is in use by a request that still runs";
        return refuseRequest(400, ErrorCode.InvalidRequest, message, id);
      }
      keys.add(key);
    }
    return undefined;
  }

  /** Runs all requests of one POST and answers each. */
  async runAll(
    dispatch: Dispatch,
    requests: readonly JsonRpcRequest[],
    peerFor: (request: JsonRpcRequest) => Peer,
    answer: (body: JsonRpcResponse) => Promise<void>,
  ): Promise<void> {
    const answered = requests.map(async (request) => {
      const reply = await this.#run(dispatch, request, peerFor);
      if (reply !== undefined) await answer(respond(request.id, reply));
    });
    await this.answering(Promise.all(answered).then(() => undefined));
  }

  /** @param answered resolves when requests were answered, for which `cancelAll` waits. */
  answering(answered: Promise<void>): Promise<void> {
    const noted = answered.finally(() => this.#answering.delete(noted));
    this.#answering.add(noted);
    return noted;
  }

  /** @returns `undefined` for a request that was cancelled: it gets no answer. */
  async #run(
    dispatch: Dispatch,
    request: JsonRpcRequest,
    peerFor: (request: JsonRpcRequest) => Peer,
  ): Promise<Reply | undefined> {
    const { id, method, params } = request;
    const alone = answerAlone(method);
    if (alone !== undefined) return alone;
    const call = params === undefined ? { method } : { method, params };
    return this.#track(id, (signal) => dispatch.request(call, peerFor(request), signal));
  }

  /** Resumes a request that was in flight when an earlier life of the session's object ended. */
  resume(
    dispatch: Dispatch,
    { id, resumeToken, asked }: Resumed,
    peer: Peer,
  ): Promise<Reply | undefined> {
    return this.#track(id, (signal) => dispatch.resume(resumeToken, peer, signal, asked));
  }

  cancel(id: RequestId, why: Error): void {
    this.#inFlight.get(idKey(id))?.abort(why);
  }

  /** @returns when all were answered that get an answer. */
  async cancelAll(why: Error): Promise<void> {
    for (const controller of this.#inFlight.values()) controller.abort(why);
    await Promise.allSettled(this.#answering);
  }

  async #track(
    id: RequestId,
    start: (signal: AbortSignal) => Promise<Reply>,
  ): Promise<Reply | undefined> {
    const key = idKey(id);
    const controller = new AbortController();
    this.#inFlight.set(key, controller);
    if (this.#inFlight.size === 1) this.#onBusy(true);
    try {
      return await start(controller.signal);
    } catch (error) {
      const reason: unknown = controller.signal.reason;
      if (reason instanceof EndedEarly) return errorReply(ErrorCode.InternalError, reason.message);
      if (controller.signal.aborted) return undefined;
      throw error;
    } finally {
      this.#inFlight.delete(key);
      if (this.isIdle) this.#onBusy(false);
    }
  }
}

function progressTokenOf(params: Params | undefined): unknown {
  const meta = params?._meta;
  return isObject(meta) ? meta["progressToken"] : undefined;
}

/** The log's record of the requests that a stream answers, so that none of them is left open. */
export function writeRecord(requests: readonly JsonRpcRequest[]): string {
  return JSON.stringify(requests.map(({ id }) => id));
}

/**
 * @param events yields the data of every event of the stream. It is not called where the stream
 *   answers one request: such a stream ends with its answer.
 * @returns the requests that have no answer yet.
 */
export function unanswered(
  record: string | undefined,
  events: () => Iterable<string>,
): RequestId[] {
  const ids = tryLossless(record ?? "");
  const open = new Map<string, RequestId>();
  for (const id of Array.isArray(ids) ? ids.filter(isRequestId) : []) open.set(idKey(id), id);
  for (const data of open.size > 1 ? events() : []) {
    const message = tryLossless(data);
    const isAnswer = isObject(message) && !("method" in message);
    if (isAnswer && isRequestId(message["id"])) open.delete(idKey(message["id"]));
  }
  return [...open.values()];
}
