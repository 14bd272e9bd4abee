/**
 * The calls of a bridge that may have to outlive its memory: those that run here, and those that were
 * parked before a restart. Each ends in time, whether its client answers or not.
 */

import { logUnexpected } from "../../observability/unexpected.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import { errorReply, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { settleWithin } from "../../lib/time-out.ts";
import { failureReply, UpstreamError } from "../../upstream/upstream-error.ts";
import {
  BridgedCall,
  type BridgedCallOptions,
  type Journal,
  type RoundResult,
} from "./bridged-call.ts";
import type { Downstream } from "./downstream.ts";
import type { UpstreamSession } from "./upstream-session.ts";
import type { CallPlace, Parked, ParkedCall, ParkedCalls } from "./parked-calls.ts";

export interface ParkingOptions {
  readonly slug: string;
  readonly calls: ParkedCalls;
  /** The session in which calls from before a restart run, if they do. */
  readonly upstreamSession: Pick<
    UpstreamSession,
    "sessionId" | "standaloneToken" | "isOfSession" | "answer" | "abandon"
  >;
  readonly maxParked: number;
  /** The size of all questions of one call together, as JSON. */
  readonly maxQuestionBytes: number;
  /** The time that a client has to answer, in milliseconds. */
  readonly parkedMs: number;
  readonly gatherMs: number;
  readonly now: () => number;
  /** A call has been parked, or is over. */
  readonly onChange: () => void;
}

/** A client's request with the answers to a round. */
export interface ClientReturn {
  readonly exchange: string;
  readonly round: number;
  readonly responses: JsonObject;
  readonly downstream: Downstream;
  /** The resume token of the last notification that the client has of this round. */
  readonly after?: string | undefined;
  /** Resumes the call at the server. */
  readonly resume: (place: CallPlace) => BridgedCallOptions["run"];
}

const NOT_IN_TIME = "Nobody came back with an answer in time";
const LOST = "lost the stream of this request when the gateway restarted; the result is unknown";
const RESTARTED = "The gateway was restarted";
const LEFT = "was changed, or its account was, while it ran this; the result is unknown";
const CHANGED = "The session is being closed";
/** A server that takes longer to get an answer or a cancellation is not waited for. */
const LEAVING_MS = 1000;

export class Parking {
  readonly #options: ParkingOptions;
  readonly #live = new Map<string, BridgedCall>();
  /** The number of calls that are being abandoned at the server. */
  #abandoning = 0;

  constructor(options: ParkingOptions) {
    this.#options = options;
    const { calls, now, parkedMs } = options;
    for (const call of calls.all) {
      if (call.isOver) continue;
      if (!call.isResumable) void this.#lose(call, LOST, RESTARTED);
      // A request waited for this call when the memory was lost, and will be repeated.
      else if (call.isAnswered) calls.postpone(call.exchange, now() + parkedMs);
    }
  }

  get isIdle(): boolean {
    return this.#live.size === 0 && this.#abandoning === 0;
  }

  /** When the next parked call expires, in milliseconds since 1970; `Infinity` when none is parked. */
  get dueAt(): number {
    let dueAt = Infinity;
    for (const { exchange, due } of this.#options.calls.all) {
      if (!this.#isAwaited(exchange)) dueAt = Math.min(dueAt, due);
    }
    return dueAt;
  }

  /** Begins a call. */
  begin(run: BridgedCallOptions["run"]): { readonly exchange: string; readonly call: BridgedCall } {
    const exchange = crypto.randomUUID();
    return { exchange, call: this.#add(exchange, { run }) };
  }

  /** @returns the call that the client waits for from now on, if it runs, and the result of the round. */
  resumeRound(back: ClientReturn): {
    readonly call?: BridgedCall;
    readonly result: Promise<RoundResult>;
  } {
    const { exchange, round, responses, downstream } = back;
    const running = this.#live.get(exchange);
    if (running !== undefined) {
      return { call: running, result: running.answer(round, responses, downstream) };
    }
    const known = this.#options.calls.get(exchange);
    if (known === undefined || known.due <= this.#options.now()) return { result: this.#notOpen() };
    if (known.isOver || round < known.round) return { result: this.#replay(known, round) };
    const call = this.#revive(known, back);
    if (call === undefined) return { result: this.#replay(known, round) };
    return { call, result: call.answer(round, responses, downstream) };
  }

  /** Ends the calls that have expired. */
  wake(): void {
    const now = this.#options.now();
    for (const call of this.#options.calls.all) {
      if (call.due <= now && !this.#isAwaited(call.exchange)) this.#expire(call);
    }
  }

  /**
   * Ends every call with one error, before the sessions are closed in which they run. Resolves when the server has been
   * told, since it may have no way to end a session. Never rejects.
   */
  async end(): Promise<void> {
    const { slug, calls } = this.#options;
    const running = [...this.#live.values()];
    for (const call of running) call.stop(new Error(CHANGED), lost(slug, LEFT));
    // What is left was parked before a restart.
    const earlier = calls.all.filter(({ isOver }) => !isOver);
    const ended = [
      ...running.map(async ({ ran }) => ran),
      ...earlier.map(async (call) => this.#lose(call, LEFT, CHANGED)),
    ];
    await settleWithin(Promise.all(ended), LEAVING_MS);
  }

  #isAwaited(exchange: string): boolean {
    return this.#live.get(exchange)?.isParked === false;
  }

  #add(exchange: string, options: Pick<BridgedCallOptions, "run" | "before">): BridgedCall {
    const { slug, gatherMs, maxQuestionBytes } = this.#options;
    const journal = this.#journalOf(exchange);
    const call = new BridgedCall({ ...options, slug, gatherMs, maxQuestionBytes, journal });
    this.#live.set(exchange, call);
    return call;
  }

  #journalOf(exchange: string): Journal {
    const { calls, upstreamSession, maxParked, parkedMs, now, onChange } = this.#options;
    return {
      park: (parked) => {
        const isNew = calls.get(exchange) === undefined;
        if (isNew && calls.all.filter(({ isOver }) => !isOver).length >= maxParked) {
          return `has ${maxParked} requests of this client waiting for answers already; this one was stopped`;
        }
        // The call may run in a session that the server has forgotten since: no later life can take it up.
        const isHere = upstreamSession.isOfSession(parked.resumeToken);
        const { sessionId, standaloneToken } = upstreamSession;
        calls.park(
          exchange,
          { ...parked, standaloneToken },
          { due: now() + parkedMs, sessionId: isHere ? sessionId : undefined },
        );
        onChange();
      },
      answered: (given) => calls.answer(exchange, given, now() + parkedMs),
      over: (reply) => {
        this.#live.delete(exchange);
        try {
          this.#keep(exchange, reply);
        } catch (error) {
          logUnexpected(error); // the waiting request still gets the reply
        }
        onChange();
      },
    };
  }

  /** Keeps the reply of a parked call for a client that did not receive it. */
  #keep(exchange: string, reply: Reply): void {
    const { calls, maxParked, parkedMs, now } = this.#options;
    calls.end(exchange, reply, now() + parkedMs);
    const kept = calls.all.filter(({ isOver }) => isOver);
    for (const { exchange } of kept.slice(0, -maxParked)) calls.drop(exchange);
  }

  /** The result of a round that is not the last, or of a call that is over. */
  #replay({ exchange, round: last }: ParkedCall, round: number): Promise<RoundResult> {
    const { calls } = this.#options;
    if (round === last) {
      const reply = calls.reply(exchange);
      return reply === undefined ? this.#notOpen() : Promise.resolve({ kind: "over", reply });
    }
    const questions = calls.rounds(exchange)[round]?.questions;
    if (questions === undefined) return this.#notOpen();
    return Promise.resolve({ kind: "asked", round: round + 1, questions });
  }

  /** @returns `undefined` when the call cannot be resumed any more. */
  #revive(known: ParkedCall, { exchange, resume, after }: ClientReturn): BridgedCall | undefined {
    const { calls } = this.#options;
    const rounds = calls.rounds(exchange);
    const last = rounds.at(-1);
    // The server may have forgotten the session since.
    if (last === undefined || !this.#isKnown(known)) {
      void this.#lose(known, LOST, RESTARTED);
      return undefined;
    }
    const call = this.#add(exchange, {
      run: resume({ ...last, resumeToken: after ?? last.resumeToken }),
      before: {
        rounds: rounds.map(({ questions }) => questions),
        last,
        given: calls.answers(exchange),
      },
    });
    call.revive();
    return call;
  }

  /** True when the call's resume tokens are of the current session: in another they mean other calls. */
  #isKnown({ sessionId }: ParkedCall): boolean {
    return sessionId === this.#options.upstreamSession.sessionId;
  }

  #expire(call: ParkedCall): void {
    const { calls } = this.#options;
    const { exchange } = call;
    const last = call.isOver ? undefined : calls.rounds(exchange).at(-1);
    calls.drop(exchange);
    const running = this.#live.get(exchange);
    if (running !== undefined) {
      running.stop(new Error(NOT_IN_TIME), errorReply(ErrorCode.InternalError, NOT_IN_TIME));
    } else if (last !== undefined) void this.#abandon(call, last, NOT_IN_TIME);
  }

  /**
   * Ends a call that cannot be resumed, and cancels it at the server, which may still run it.
   *
   * @param sentence the predicate of a sentence about the server, for the client.
   * @param reason for the server.
   * @returns when the server has been told. Never rejects.
   */
  #lose(call: ParkedCall, sentence: string, reason: string): Promise<void> | undefined {
    const { slug, calls } = this.#options;
    const last = calls.rounds(call.exchange).at(-1);
    this.#keep(call.exchange, lost(slug, sentence));
    return last && this.#abandon(call, last, reason);
  }

  /** Never rejects. */
  async #abandon(
    call: ParkedCall,
    { questionTokens, undelivered = {}, resumeToken }: Parked,
    reason: string,
  ): Promise<void> {
    const { upstreamSession, onChange } = this.#options;
    if (!this.#isKnown(call)) return;
    this.#abandoning += 1;
    const replies = { ...undelivered };
    for (const one of Object.values(questionTokens)) {
      replies[one] = errorReply(ErrorCode.InternalError, reason);
    }
    const answers = Object.entries(replies).map(([one, reply]) =>
      upstreamSession.answer(one, reply),
    );
    // Answers are dropped once the request is withdrawn, so they go first.
    await Promise.all(answers);
    if (resumeToken !== undefined && this.#isKnown(call)) {
      await upstreamSession.abandon(resumeToken, reason);
    }
    this.#abandoning -= 1;
    onChange();
  }

  #notOpen(): Promise<RoundResult> {
    const sentence = `The questions of this request to upstream "${this.#options.slug}" are not open any more: nobody answered in time, or it is over. Call again without requestState`;
    return Promise.resolve({ kind: "refused", sentence });
  }
}

/** @param sentence the predicate of a sentence about the server. */
function lost(slug: string, sentence: string): Reply {
  return failureReply(new UpstreamError(slug, "lost", sentence), slug);
}
