/**
 * Takes the orders of one principal at one legacy server, and answers each: a call is sent, answers
 * are taken to the call that asked for them, and whoever hangs up cancels what nobody else waits for.
 */

import type { Limits } from "../../policy/limits.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import { errorReply, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { mayHaveRounds } from "../../protocol/methods.ts";
import { discoveryOf } from "../../protocol/translate/introductions.ts";
import { failureReply } from "../../upstream/upstream-error.ts";
import { Answering } from "./answering.ts";
import type { AnswerOrder, Order, Outcome } from "./bridge.ts";
import type { BridgedCall, BridgedCallOptions } from "./bridged-call.ts";
import type { Downstream } from "./downstream.ts";
import { finish, inputRequired } from "./finish.ts";
import type { Lane } from "./lane.ts";
import type { Lanes } from "./lanes.ts";
import type { ParkedCalls } from "./parked-calls.ts";
import { lackingFor } from "./open-questions.ts";
import { Parking } from "./parking.ts";
import { shownInfo } from "./shown-info.ts";
import { writeState } from "./request-state.ts";
import { TaskTools } from "../task-tools.ts";
import type { Turn } from "./turn.ts";
import { undeclared } from "./undeclared.ts";

export interface DeskOptions {
  readonly slug: string;
  /** The id of the object that holds all this, for those who come back to it. */
  readonly object: string;
  readonly lanes: Lanes;
  readonly calls: ParkedCalls;
  readonly limits: Limits;
  readonly now: () => number;
  /** Something runs, is over, or is due at another time than before. */
  readonly onChange: () => void;
  /** Resolves when everything written so far is durable. */
  readonly synced: () => Promise<void>;
}

/** Questions that belong together come at once; a client is asked as seldom as can be. */
const GATHER_MS = 50;
/** What a server says of itself changes when it is deployed anew. */
const DISCOVERY_TTL_MS = 60_000;
/** What a round has beside its questions, with room to spare. */
const ROUND_BYTES = 8 * 1024;
const DISCOVER = "server/discover";

interface Request {
  readonly order: Order;
  readonly downstream: Downstream;
  readonly answering: Answering;
  call?: BridgedCall | undefined;
  /** Its client has hung up. */
  isGone: boolean;
}

export class BridgeDesk {
  readonly #options: DeskOptions;
  readonly #parking: Parking;
  readonly #tasks: TaskTools;
  readonly #requests = new Map<string, Request>();
  /** Where each call runs, by its exchange. */
  readonly #lanes = new Map<string, Lane>();

  constructor(options: DeskOptions) {
    this.#options = options;
    const { slug, lanes, calls, limits, now, onChange } = options;
    this.#tasks = new TaskTools(slug, now, limits.catalogItems);
    // A round that is too large would never come to the client, whose call would stay parked.
    const maxQuestionBytes = Math.max(limits.resultBytes - ROUND_BYTES, limits.resultBytes >> 1);
    this.#parking = new Parking({
      ...{ slug, calls, lane: lanes.main, now, onChange, gatherMs: GATHER_MS, maxQuestionBytes },
      ...{ maxParked: limits.parkedCalls, parkedMs: limits.parkedSeconds * 1000 },
    });
  }

  /** Nothing runs, and nobody listens; calls of an earlier life may still be waited for. */
  get isIdle(): boolean {
    const { lanes } = this.#options;
    return this.#requests.size === 0 && this.#parking.isIdle && !lanes.isAttending;
  }

  /** When `wake` has something to do, in milliseconds since 1970. */
  get dueAt(): number {
    return this.#parking.dueAt;
  }

  wake(): void {
    this.#parking.wake();
  }

  /** What clients listen for may be another than before. */
  attend(): void {
    const { lanes, onChange } = this.#options;
    void lanes.attend();
    onChange();
  }

  /**
   * @param id names the order, for `cancel`.
   * @param capabilities that the client declared with it.
   */
  take(id: string, order: Order, capabilities: JsonObject): Promise<Outcome> {
    const answering = new Answering({
      windowBytes: this.#options.limits.windowBytes,
      onGone: () => this.cancel(id),
    });
    const { progressToken, logLevel } = order;
    const downstream: Downstream = {
      capabilities: mayHaveRounds(calledBy(order).method) ? capabilities : {},
      ...(progressToken === undefined ? {} : { progressToken }),
      ...(logLevel === undefined ? {} : { logLevel }),
      notify: (notice) => answering.notify(notice),
    };
    const request: Request = { order, downstream, answering, isGone: false };
    this.#requests.set(id, request);
    void this.#answer(request).then((reply) => {
      this.#requests.delete(id);
      answering.reply(reply);
      this.#options.onChange();
    });
    this.#options.onChange();
    return answering.outcome;
  }

  /** The client has hung up. */
  cancel(id: string): void {
    const request = this.#requests.get(id);
    if (request === undefined) return;
    this.#requests.delete(id);
    request.isGone = true;
    request.call?.leave(request.downstream);
    request.answering.abandon();
  }

  /** An upstream's failure, and ours, are error replies. */
  async #answer(request: Request): Promise<Reply> {
    const { order } = request;
    const { slug } = this.#options;
    try {
      const isDiscovery = order.kind === "call" && order.call.method === DISCOVER;
      return isDiscovery ? await this.#discover() : await this.#turn(request);
    } catch (error) {
      return failureReply(error, slug);
    }
  }

  async #discover(): Promise<Reply> {
    const introduced = await this.#options.lanes.main.meet();
    // The feeds tell of changes, and the acknowledgement of a subscription says of which.
    return { result: discoveryOf(introduced, true, DISCOVERY_TTL_MS) };
  }

  async #turn(request: Request): Promise<Reply> {
    const { order, downstream } = request;
    if (order.kind === "call") {
      const { call, logLevel } = order;
      const { exchange, call: bridged } = this.#parking.begin((peer, signal) =>
        this.#run(exchange, signal, (lane) =>
          this.#tasks.send(
            lane,
            { call, peer, signal, ...(logLevel === undefined ? {} : { logLevel }) },
            this.#options.lanes.main.introduced?.capabilities ?? {},
          ),
        ),
      );
      request.call = bridged;
      return this.#reply(request, exchange, await bridged.start(downstream));
    }
    const { exchange, logLevel } = order;
    const back = async (): Promise<Reply> =>
      this.#reply(request, exchange, await this.#comeBack(request, order));
    const lane = this.#lanes.get(exchange);
    // What does not run here is not heard yet, or not any more.
    return lane === undefined ? back() : lane.hearing(logLevel, back);
  }

  #comeBack(request: Request, order: AnswerOrder): Promise<Turn> {
    const { exchange, round, responses, logLevel } = order;
    const { downstream, isGone } = request;
    if (isGone) return Promise.resolve({ kind: "refused", sentence: "The client has hung up" });
    const { call, turn } = this.#parking.comeBack({
      ...{ exchange, round, responses, downstream },
      resume:
        (ticket): BridgedCallOptions["run"] =>
        (peer, signal) =>
          this.#run(exchange, signal, (lane) =>
            lane.hearing(logLevel, async () =>
              this.#tasks.finish(lane, { peer, signal }, await lane.resume(ticket, peer, signal)),
            ),
          ),
    });
    request.call = call;
    return turn;
  }

  /** Rejects with the reason of the signal alone. */
  async #run(
    exchange: string,
    signal: AbortSignal,
    send: (lane: Lane) => Promise<Reply>,
  ): Promise<Reply> {
    const { slug, lanes } = this.#options;
    try {
      return await lanes.with(signal, (lane) => {
        this.#lanes.set(exchange, lane);
        return send(lane);
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      return failureReply(error, slug);
    } finally {
      this.#lanes.delete(exchange);
    }
  }

  async #reply({ order, downstream }: Request, exchange: string, turn: Turn): Promise<Reply> {
    const { object, lanes, synced } = this.#options;
    const { capabilities } = downstream;
    const { digest } = order;
    const serverInfo = shownInfo(lanes.main.introduced?.serverInfo);
    switch (turn.kind) {
      case "over":
        return finish(turn.reply, { ...calledBy(order), digest, capabilities, serverInfo });
      case "refused":
        return errorReply(ErrorCode.InvalidParams, turn.sentence);
      case "asked": {
        const { round, questions } = turn;
        // Of a client that repeats itself, and declares less than when they were put together.
        if (lackingFor(questions, capabilities) !== undefined) return undeclared(questions);
        // Nobody may know of the questions before they can be found again.
        await synced();
        const state = writeState({ kind: "parked", object, exchange, round, digest });
        return inputRequired(questions, state, serverInfo);
      }
    }
  }
}

function calledBy(order: Order): { readonly method: string; readonly uri?: unknown } {
  if (order.kind === "answer") return order;
  const { method, params } = order.call;
  return { method, uri: params?.["uri"] };
}
