/**
 * Runs the commands of one principal at one legacy server: a call is sent, and answers are passed to
 * the call that asked for them. A client that disconnects cancels its call, unless another request
 * waits for it.
 */

import type { Limits } from "../../policy/limits.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import { forwardingTo } from "../../protocol/exchange.ts";
import { errorReply, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { mayHaveRounds } from "../../protocol/methods.ts";
import type { Tracer } from "../../protocol/tracer.ts";
import { discoveryOf } from "../../protocol/revisions/introductions.ts";
import type { UsableCredential } from "../../upstream/credentials.ts";
import { failureReply } from "../../upstream/upstream-error.ts";
import { Answering } from "./answering.ts";
import type { AnswerCommand, BridgeCommand, BridgeOutcome } from "./bridge.ts";
import type { BridgedCall, BridgedCallOptions, RoundResult } from "./bridged-call.ts";
import type { Downstream } from "./downstream.ts";
import { finish, inputRequired, shownInfo, undeclared } from "./finish.ts";
import type { UpstreamSession } from "./upstream-session.ts";
import type { UpstreamSessions } from "./upstream-sessions.ts";
import type { ParkedCalls } from "./parked-calls.ts";
import { lackingForQuestion } from "./open-questions.ts";
import { Parking } from "./parking.ts";
import { writeState } from "./bridge-state.ts";
import { TaskTools } from "../tasks/task-tools.ts";

export interface BridgeServiceOptions {
  readonly slug: string;
  /** The id of the Durable Object that holds the calls, for the requestState of parked ones. */
  readonly object: string;
  readonly upstreamSessions: UpstreamSessions;
  readonly calls: ParkedCalls;
  readonly limits: Limits;
  readonly now: () => number;
  /** Called when a command begins or ends, or `dueAt` changes. */
  readonly onChange: () => void;
  /** @returns what records the spans of a command that is being taken, if anything does. */
  readonly tracer?: () => Tracer | undefined;
  /** Resolves when all writes so far are durable. */
  readonly synced: () => Promise<void>;
}

/** Questions that come within this time are put to the client in one round. */
const GATHER_MS = 50;
/** The time for answers to be sent again when their connection broke, which is longer than the Worker's pause. */
const RETURN_MS = 1000;
/** A server's introduction may change with each deployment. */
const DISCOVERY_TTL_MS = 60_000;
/** The size of a round without its questions, with room to spare. */
const ROUND_BYTES = 8 * 1024;
const DISCOVER = "server/discover";

interface Request {
  readonly command: BridgeCommand;
  readonly downstream: Downstream;
  readonly answering: Answering;
  call?: BridgedCall | undefined;
  /** The client has disconnected. */
  isGone: boolean;
}

export class BridgeService {
  readonly #options: BridgeServiceOptions;
  readonly #parking: Parking;
  readonly #tasks: TaskTools;
  readonly #requests = new Map<string, Request>();
  /** The session of each running call, by its exchange. */
  readonly #upstreamSessions = new Map<string, UpstreamSession>();

  constructor(options: BridgeServiceOptions) {
    this.#options = options;
    const { slug, upstreamSessions, calls, limits, now, onChange } = options;
    this.#tasks = new TaskTools(slug, now, limits.catalogItems);
    // A round that is too large would never reach the client, and its call would stay parked.
    const maxQuestionBytes = Math.max(limits.resultBytes - ROUND_BYTES, limits.resultBytes >> 1);
    this.#parking = new Parking({
      slug,
      calls,
      upstreamSession: upstreamSessions.main,
      now,
      onChange,
      gatherMs: GATHER_MS,
      maxQuestionBytes,
      maxParked: limits.parkedCalls,
      parkedMs: limits.parkedSeconds * 1000,
    });
  }

  /** No call runs here and no client listens; calls parked before a restart may still be open. */
  get isIdle(): boolean {
    const { upstreamSessions } = this.#options;
    return this.#requests.size === 0 && this.#parking.isIdle && !upstreamSessions.hasListeners;
  }

  /** When `wake` has something to do, in milliseconds since 1970. */
  get dueAt(): number {
    return this.#parking.dueAt;
  }

  wake(): void {
    this.#parking.wake();
  }

  /**
   * Ends what runs here, and closes the sessions: their server is reached in another way now, or their account has ended.
   *
   * @param last the credential of the sessions, when their account has ended.
   */
  async close(last?: UsableCredential): Promise<void> {
    await this.#parking.end();
    await this.#options.upstreamSessions.close(last);
  }

  /** Follows a change of the URIs that clients listen for. */
  listenersChanged(): void {
    const { upstreamSessions, onChange } = this.#options;
    void upstreamSessions.followListeners();
    onChange();
  }

  /**
   * @param id of the command, for `cancel`.
   * @param capabilities that the client declared with it.
   */
  take(id: string, command: BridgeCommand, capabilities: JsonObject): Promise<BridgeOutcome> {
    const answering = new Answering({
      windowBytes: this.#options.limits.windowBytes,
      onGone: () => this.#gone(id, command),
    });
    const { progressToken, logLevel } = command;
    const downstream: Downstream = {
      capabilities: mayHaveRounds(calledBy(command).method) ? capabilities : {},
      ...(progressToken === undefined ? {} : { progressToken }),
      ...(logLevel === undefined ? {} : { logLevel }),
      notify: (notice, resumeToken) => answering.notify(notice, resumeToken),
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

  /** The client has disconnected. */
  cancel(id: string): void {
    const request = this.#requests.get(id);
    if (request === undefined) return;
    this.#requests.delete(id);
    request.isGone = true;
    request.call?.leave(request.downstream);
    request.answering.abandon();
  }

  /** The stream of a command broke: its client has gone, or the Worker is about to send the same answers again. */
  #gone(id: string, { kind }: BridgeCommand): void {
    if (kind === "answer") setTimeout(() => this.cancel(id), RETURN_MS);
    else this.cancel(id);
  }

  /** Failures of the upstream and of the gateway are error replies. */
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
    // The feeds bring changes, and the acknowledgement of a subscription lists which.
    return { result: discoveryOf(introduced, true, DISCOVERY_TTL_MS) };
  }

  async #result(request: Request): Promise<Reply> {
    const { command, downstream } = request;
    if (command.kind === "call") {
      const { call, logLevel, trace } = command;
      const tracer = this.#options.tracer?.();
      const span = trace && { trace, era: "modern" as const, clientName: undefined, tracer };
      const { exchange, call: bridged } = this.#parking.begin((peer, signal) =>
        this.#run(exchange, signal, (upstreamSession) =>
          this.#tasks.send(
            upstreamSession,
            {
              call,
              peer: { ...forwardingTo(peer), span },
              signal,
              ...(logLevel === undefined ? {} : { logLevel }),
            },
            this.#options.upstreamSessions.main.introduced?.capabilities ?? {},
          ),
        ),
      );
      request.call = bridged;
      return this.#reply(request, exchange, await bridged.start(downstream));
    }
    const { exchange, logLevel } = command;
    const answer = async (): Promise<Reply> =>
      this.#reply(request, exchange, await this.#answerRound(request, command));
    const upstreamSession = this.#upstreamSessions.get(exchange);
    // A call that does not run here has no log level to set yet, or not any more.
    return upstreamSession === undefined
      ? answer()
      : upstreamSession.withLogLevel(logLevel, answer);
  }

  #answerRound(request: Request, command: AnswerCommand): Promise<RoundResult> {
    const { exchange, round, responses, logLevel, after } = command;
    const { downstream, isGone } = request;
    if (isGone) return Promise.resolve({ kind: "refused", sentence: "The client has hung up" });
    const { call, result } = this.#parking.resumeRound({
      exchange,
      round,
      responses,
      downstream,
      after,
      resume:
        (place): BridgedCallOptions["run"] =>
        (peer, signal, asked) =>
          this.#run(exchange, signal, (upstreamSession) =>
            upstreamSession.withLogLevel(logLevel, () =>
              this.#tasks.resume(
                upstreamSession,
                { peer, signal },
                { resumeToken: place.resumeToken, asked },
                (answering, open) => upstreamSession.resume(place, answering, signal, open),
              ),
            ),
          ),
    });
    request.call = call;
    return result;
  }

  /** An upstream's failure is an error reply. Rejects with the reason of the signal alone. */
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
    result: RoundResult,
  ): Promise<Reply> {
    const { object, upstreamSessions, synced } = this.#options;
    const { capabilities } = downstream;
    const { digest } = command;
    const serverInfo = shownInfo(upstreamSessions.main.introduced?.serverInfo);
    switch (result.kind) {
      case "over":
        return finish(result.reply, { ...calledBy(command), digest, capabilities, serverInfo });
      case "refused":
        return errorReply(ErrorCode.InvalidParams, result.sentence);
      case "asked": {
        const { round, questions } = result;
        // The client repeats a request, and declares less than when its questions were put together.
        if (lackingForQuestion(questions, capabilities) !== undefined) return undeclared(questions);
        // The client may not receive the questions before they are durable.
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
  return { method, uri: params?.uri };
}
