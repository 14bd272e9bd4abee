/**
 * The calls of a desk that may have to outlive its memory: those that run here, and those that an
 * earlier life has left. Each is brought to an end in its time, whether its client comes back or not.
 */

import { logUnexpected } from "../../observability/unexpected.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import { errorReply, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { failureReply, UpstreamError } from "../../upstream/upstream-error.ts";
import { BridgedCall, type BridgedCallOptions } from "./bridged-call.ts";
import type { Downstream } from "./downstream.ts";
import type { UpstreamSession } from "./upstream-session.ts";
import type { ParkedCall, ParkedCalls } from "./parked-calls.ts";
import type { Journal, Parked, RoundResult } from "./round-result.ts";

export interface ParkingOptions {
  readonly slug: string;
  readonly calls: ParkedCalls;
  /** Where calls of an earlier life run, if they do. */
  readonly upstreamSession: Pick<UpstreamSession, "sessionId" | "answer" | "abandon">;
  readonly maxParked: number;
  /** Of what a server may ask in one call, as JSON. */
  readonly maxQuestionBytes: number;
  /** How long a client is waited for. */
  readonly parkedMs: number;
  readonly gatherMs: number;
  readonly now: () => number;
  /** A call has been parked, or is over. */
  readonly onChange: () => void;
}

/** A client that has come back. */
export interface ClientReturn {
  readonly exchange: string;
  readonly round: number;
  readonly responses: JsonObject;
  readonly downstream: Downstream;
  /** Runs what is left of the call. */
  readonly resume: (ticket: string | undefined) => BridgedCallOptions["run"];
}

const NOT_IN_TIME = "Nobody came back with an answer in time";
const LOST = "lost the stream of this request when the gateway restarted; the result is unknown";

export class Parking {
  readonly #options: ParkingOptions;
  readonly #live = new Map<string, BridgedCall>();
  /** Servers that are being told that nobody waits any more. */
  #farewells = 0;

  constructor(options: ParkingOptions) {
    this.#options = options;
    const { calls, now, parkedMs } = options;
    for (const call of calls.all) {
      if (call.isOver) continue;
      if (!call.isResumable) this.#lose(call);
      // Its client was there when the memory was lost, and is on its way back.
      else if (call.isAnswered) calls.postpone(call.exchange, now() + parkedMs);
    }
  }

  get isIdle(): boolean {
    return this.#live.size === 0 && this.#farewells === 0;
  }

  /** When the next call is due, in milliseconds since 1970; `Infinity` when nothing is parked. */
  get dueAt(): number {
    let dueAt = Infinity;
    for (const { exchange, due } of this.#options.calls.all) {
      if (!this.#isAttended(exchange)) dueAt = Math.min(dueAt, due);
    }
    return dueAt;
  }

  /** Begins a call. */
  begin(run: BridgedCallOptions["run"]): { readonly exchange: string; readonly call: BridgedCall } {
    const exchange = crypto.randomUUID();
    return { exchange, call: this.#add(exchange, { run }) };
  }

  /** @returns the call that the client waits for from now on, if it runs; and what comes of it. */
  resumeRound(back: ClientReturn): {
    readonly call?: BridgedCall;
    readonly turn: Promise<RoundResult>;
  } {
    const { exchange, round, responses, downstream } = back;
    const running = this.#live.get(exchange);
    if (running !== undefined) {
      return { call: running, turn: running.answer(round, responses, downstream) };
    }
    const known = this.#options.calls.get(exchange);
    if (known === undefined || known.due <= this.#options.now()) return { turn: this.#gone() };
    if (known.isOver || round < known.round) return { turn: this.#replay(known, round) };
    const call = this.#revive(known, back);
    if (call === undefined) return { turn: this.#replay(known, round) };
    return { call, turn: call.answer(round, responses, downstream) };
  }

  /** Ends what is past its time. */
  wake(): void {
    const now = this.#options.now();
    for (const call of this.#options.calls.all) {
      if (call.due <= now && !this.#isAttended(call.exchange)) this.#expire(call);
    }
  }

  #isAttended(exchange: string): boolean {
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
        calls.park(exchange, parked, {
          due: now() + parkedMs,
          sessionId: upstreamSession.sessionId,
        });
        onChange();
      },
      answered: (given) => calls.answer(exchange, given, now() + parkedMs),
      over: (reply) => {
        this.#live.delete(exchange);
        try {
          this.#keep(exchange, reply);
        } catch (error) {
          logUnexpected(error); // whoever waits is told all the same
        }
        onChange();
      },
    };
  }

  /** What a parked call came to is kept for whoever did not hear of it. */
  #keep(exchange: string, reply: Reply): void {
    const { calls, maxParked, parkedMs, now } = this.#options;
    calls.end(exchange, reply, now() + parkedMs);
    const kept = calls.all.filter(({ isOver }) => isOver);
    for (const { exchange } of kept.slice(0, -maxParked)) calls.drop(exchange);
  }

  /** What a round led to that is not the last, or of a call that is over. */
  #replay({ exchange, round: last }: ParkedCall, round: number): Promise<RoundResult> {
    const { calls } = this.#options;
    if (round === last) {
      const reply = calls.reply(exchange);
      return reply === undefined ? this.#gone() : Promise.resolve({ kind: "over", reply });
    }
    const questions = calls.rounds(exchange)[round]?.questions;
    if (questions === undefined) return this.#gone();
    return Promise.resolve({ kind: "asked", round: round + 1, questions });
  }

  /** @returns `undefined` when what is left of the call cannot be had any more. */
  #revive(known: ParkedCall, { exchange, resume }: ClientReturn): BridgedCall | undefined {
    const { calls, upstreamSession } = this.#options;
    const rounds = calls.rounds(exchange);
    const last = rounds.at(-1);
    // The server may have forgotten the session since.
    if (last === undefined || !this.#isKnown(known)) {
      this.#lose(known);
      return undefined;
    }
    const call = this.#add(exchange, {
      run: resume(last.ticket),
      before: {
        ...{ rounds: rounds.map(({ questions }) => questions), last },
        given: calls.answers(exchange),
        answer: (ticket, reply) => {
          if (this.#isKnown(known)) void upstreamSession.answer(ticket, reply);
        },
      },
    });
    call.revive();
    return call;
  }

  /** Whether the server knows the call by its tickets: in another session they are of other calls. */
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

  /** Ends a call that nobody can take up: the server may not even know that. */
  #lose(call: ParkedCall): void {
    const { slug, calls } = this.#options;
    const last = calls.rounds(call.exchange).at(-1);
    this.#keep(call.exchange, failureReply(new UpstreamError(slug, "lost", LOST), slug));
    if (last !== undefined) void this.#abandon(call, last, "The gateway was restarted");
  }

  /** Never rejects. */
  async #abandon(call: ParkedCall, { tickets, ticket }: Parked, reason: string): Promise<void> {
    const { upstreamSession, onChange } = this.#options;
    if (!this.#isKnown(call)) return;
    this.#farewells += 1;
    const answers = Object.values(tickets).map((one) =>
      upstreamSession.answer(one, errorReply(ErrorCode.InternalError, reason)),
    );
    // They are none any more once the request is withdrawn.
    await Promise.all(answers);
    if (ticket !== undefined && this.#isKnown(call)) await upstreamSession.abandon(ticket, reason);
    this.#farewells -= 1;
    onChange();
  }

  #gone(): Promise<RoundResult> {
    const sentence = `The questions of this request to upstream "${this.#options.slug}" are not open any more: nobody answered in time, or it is over. Call again without requestState`;
    return Promise.resolve({ kind: "refused", sentence });
  }
}
