/**
 * Takes the orders of one principal at one legacy server, and answers each: a call is sent, answers
 * are taken to the call that asked for them, and whoever hangs up cancels what nobody else waits for.
 */

import type { Limits } from "../../policy/limits.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import { errorReply, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { mayHaveRounds } from "../../protocol/methods.ts";
import { discoveryOf } from "../../protocol/revisions/introductions.ts";
import { failureReply } from "../../upstream/upstream-error.ts";
import { Answering } from "./answering.ts";
import type { AnswerCommand, BridgeCommand, BridgeOutcome } from "./bridge.ts";
import type { BridgedCall, BridgedCallOptions } from "./bridged-call.ts";
import type { Downstream } from "./downstream.ts";
import { finish, inputRequired } from "./finish.ts";
import type { UpstreamSession } from "./upstream-session.ts";
import type { UpstreamSessions } from "./upstream-sessions.ts";
import type { ParkedCalls } from "./parked-calls.ts";
import { lackingForQuestion } from "./open-questions.ts";
import { Parking } from "./parking.ts";
import { shownInfo } from "./shown-info.ts";
import { writeState } from "./bridge-state.ts";
import { TaskTools } from "../tasks/task-tools.ts";
import type { RoundResult } from "./round-result.ts";
import { undeclared } from "./undeclared.ts";

export interface BridgeServiceOptions {
  readonly slug: string;
  /** The id of the object that holds all this, for those who come back to it. */
  readonly object: string;
  readonly upstreamSessions: UpstreamSessions;
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
  readonly command: BridgeCommand;
  readonly downstream: Downstream;
  readonly answering: Answering;
  call?: BridgedCall | undefined;
  /** Its client has hung up. */
  isGone: boolean;
}

export class BridgeService {
  readonly #options: BridgeServiceOptions;
  readonly #parking: Parking;
  readonly #tasks: TaskTools;
  readonly #requests = new Map<string, Request>();
  /** Where each call runs, by its exchange. */
  readonly #upstreamSessions = new Map<string, UpstreamSession>();

  constructor(options: BridgeServiceOptions) {
    this.#options = options;
    const { slug, upstreamSessions, calls, limits, now, onChange } = options;
    this.#tasks = new TaskTools(slug, now, limits.catalogItems);
    // A round that is too large would never come to the client, whose call would stay parked.
    const maxQuestionBytes = Math.max(limits.resultBytes - ROUND_BYTES, limits.resultBytes >> 1);
    this.#parking = new Parking({
      ...{
        slug,
        calls,
        upstreamSession: upstreamSessions.main,
        now,
        onChange,
        gatherMs: GATHER_MS,
        maxQuestionBytes,
      },
      ...{ maxParked: limits.parkedCalls, parkedMs: limits.parkedSeconds * 1000 },
    });
  }

  /** Nothing runs, and nobody listens; calls of an earlier life may still be waited for. */
  get isIdle(): boolean {
    const { upstreamSessions } = this.#options;
    return this.#requests.size === 0 && this.#parking.isIdle && !upstreamSessions.isAttending;
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
    const { upstreamSessions, onChange } = this.#options;
    void upstreamSessions.attend();
    onChange();
  }

  /**
   * @param id names the order, for `cancel`.
   * @param capabilities that the client declared with it.
   */
  take(id: string, command: BridgeCommand, capabilities: JsonObject): Promise<BridgeOutcome> {
    const answering = new Answering({
      windowBytes: this.#options.limits.windowBytes,
      onGone: () => this.cancel(id),
    });
    const { progressToken, logLevel } = command;
    const downstream: Downstream = {
      capabilities: mayHaveRounds(calledBy(command).method) ? capabilities : {},
      ...(progressToken === undefined ? {} : { progressToken }),
      ...(logLevel === undefined ? {} : { logLevel }),
      notify: (notice) => answering.notify(notice),
    };
    const request: Request = { command, downstream, answering, isGone: false };
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
    const { command } = request;
    const { slug } = this.#options;
    try {
      const isDiscovery = command.kind === "call" && command.call.method === DISCOVER;
      return isDiscovery ? await this.#discover() : await this.#result(request);
    } catch (error) {
      return failureReply(error, slug);
    }
  }

  async #discover(): Promise<Reply> {
    const introduced = await this.#options.upstreamSessions.main.meet();
    // The feeds tell of changes, and the acknowledgement of a subscription says of which.
    return { result: discoveryOf(introduced, true, DISCOVERY_TTL_MS) };
  }

  async #result(request: Request): Promise<Reply> {
    const { command, downstream } = request;
    if (command.kind === "call") {
      const { call, logLevel } = command;
      const { exchange, call: bridged } = this.#parking.begin((peer, signal) =>
        this.#run(exchange, signal, (upstreamSession) =>
          this.#tasks.send(
            upstreamSession,
            { call, peer, signal, ...(logLevel === undefined ? {} : { logLevel }) },
            this.#options.upstreamSessions.main.introduced?.capabilities ?? {},
          ),
        ),
      );
      request.call = bridged;
      return this.#reply(request, exchange, await bridged.start(downstream));
    }
    const { exchange, logLevel } = command;
    const back = async (): Promise<Reply> =>
      this.#reply(request, exchange, await this.#comeBack(request, command));
    const upstreamSession = this.#upstreamSessions.get(exchange);
    // What does not run here is not heard yet, or not any more.
    return upstreamSession === undefined ? back() : upstreamSession.hearing(logLevel, back);
  }

  #comeBack(request: Request, command: AnswerCommand): Promise<RoundResult> {
    const { exchange, round, responses, logLevel } = command;
    const { downstream, isGone } = request;
    if (isGone) return Promise.resolve({ kind: "refused", sentence: "The client has hung up" });
    const { call, turn } = this.#parking.resumeRound({
      ...{ exchange, round, responses, downstream },
      resume:
        (ticket): BridgedCallOptions["run"] =>
        (peer, signal) =>
          this.#run(exchange, signal, (upstreamSession) =>
            upstreamSession.hearing(logLevel, async () =>
              this.#tasks.finish(
                upstreamSession,
                { peer, signal },
                await upstreamSession.resume(ticket, peer, signal),
              ),
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
    send: (upstreamSession: UpstreamSession) => Promise<Reply>,
  ): Promise<Reply> {
    const { slug, upstreamSessions } = this.#options;
    try {
      return await upstreamSessions.with(signal, (upstreamSession) => {
        this.#upstreamSessions.set(exchange, upstreamSession);
        return send(upstreamSession);
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      return failureReply(error, slug);
    } finally {
      this.#upstreamSessions.delete(exchange);
    }
  }

  async #reply(
    { command, downstream }: Request,
    exchange: string,
    turn: RoundResult,
  ): Promise<Reply> {
    const { object, upstreamSessions, synced } = this.#options;
    const { capabilities } = downstream;
    const { digest } = command;
    const serverInfo = shownInfo(upstreamSessions.main.introduced?.serverInfo);
    switch (turn.kind) {
      case "over":
        return finish(turn.reply, { ...calledBy(command), digest, capabilities, serverInfo });
      case "refused":
        return errorReply(ErrorCode.InvalidParams, turn.sentence);
      case "asked": {
        const { round, questions } = turn;
        // Of a client that repeats itself, and declares less than when they were put together.
        if (lackingForQuestion(questions, capabilities) !== undefined) return undeclared(questions);
        // Nobody may know of the questions before they can be found again.
        await synced();
        const state = writeState({ kind: "parked", object, exchange, round, digest });
        return inputRequired(questions, state, serverInfo);
      }
    }
  }
}

function calledBy(command: BridgeCommand): { readonly method: string; readonly uri?: unknown } {
  if (command.kind === "answer") return command;
  const { method, params } = command.call;
  return { method, uri: params?.["uri"] };
}
