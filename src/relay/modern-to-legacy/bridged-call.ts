/**
 * One request of a modern client at a legacy server. While it runs, a downstream request is attached
 * to it. When the server asks something, that request is answered with the questions, and the call
 * is parked: its stream stays open at the server until the client sends the answers.
 *
 * Each answer is taken once. A client that repeats a request, because its connection broke, gets the
 * same result again.
 */

import { logUnexpected } from "../../observability/unexpected.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call, OpenQuestion, Peer } from "../../protocol/exchange.ts";
import { errorReply, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { type Downstream, noticeFor } from "./downstream.ts";
import { lackingForQuestion, OpenQuestions, type Questions } from "./open-questions.ts";
import type { RoundAnswers, Parked } from "./parked-calls.ts";

export type RoundResult =
  | { readonly kind: "over"; readonly reply: Reply }
  | { readonly kind: "asked"; readonly round: number; readonly questions: Questions }
  /** No answer was taken; a sentence on the fault of the answers. */
  | { readonly kind: "refused"; readonly sentence: string };

/** Stores the state of a call that must outlive memory, before any client receives it. */
export interface Journal {
  /** @returns the predicate of a sentence about the server when the call cannot be parked. */
  park(parked: Parked): string | undefined;
  /**
   * Stores the client's answers to the last round.
   *
   * @param given the answers, by the keys of the questions; other questions are still open.
   */
  answered(given: RoundAnswers): void;
  over(reply: Reply): void;
}

/** The state of a call that was parked before a restart of the holder. */
interface EarlierLife {
  /** The questions, round by round. */
  readonly rounds: readonly Questions[];
  /** Of the last round. */
  readonly last: Pick<Parked, "questionTokens" | "resumeToken" | "asked" | "undelivered">;
  /** The answers to the last round, if its client has answered. */
  readonly given: RoundAnswers;
}

export interface BridgedCallOptions {
  /** Of the server, for error messages. */
  readonly slug: string;
  /**
   * Runs or resumes the request at the server. Rejects with the reason of the signal alone.
   *
   * @param asked the questions of the last round before a restart, to be answered at the server.
   */
  readonly run: (peer: Peer, signal: AbortSignal, asked: readonly OpenQuestion[]) => Promise<Reply>;
  /** Questions that come within this time are put in one round, in milliseconds. */
  readonly gatherMs: number;
  /** The size of all questions of this call together, as JSON. */
  readonly maxQuestionBytes: number;
  readonly journal: Journal;
  readonly before?: EarlierLife;
}

/** Waits for the answer to a question. @param delivered resolves when the server has it. */
type Delivering = (withdrawn: AbortSignal, delivered?: Promise<void>) => Promise<Reply>;

/** In one call. A server that asks more is taken not to end by itself. */
const MAX_QUESTIONS = 100;
const MAX_ROUNDS = 100;
/** For a question that nobody needs an answer to any more. */
const GONE = errorReply(ErrorCode.InternalError, "The request that this belongs to is over");

export class BridgedCall {
  readonly #options: BridgedCallOptions;
  readonly #cancel = new AbortController();
  readonly #open = new OpenQuestions();
  /** The replies that the server may not have yet, by the resume tokens of their questions. */
  readonly #undelivered = new Map<string, Reply>();
  /** By the round whose answers led there; 0 is the call itself. */
  readonly #results = new Map<number, Promise<RoundResult>>();
  /** The result of the running round; none while the call is parked. */
  #result: PromiseWithResolvers<RoundResult> | undefined;
  /** The requests that wait for the round; the newest one receives the server's notifications. */
  #attached: readonly Downstream[] = [];
  /** The last round, and its questions. */
  #round = 0;
  #shown: Questions = {};
  #asked = 0;
  #resumeToken: string | undefined;
  #gathering: number | null = null;
  /** Notices that came while questions are gathered, each to be sent. */
  #held: (() => void)[] = [];
  #isOver = false;
  #ran: Promise<void> | undefined;
  /** The questions of the last round before a restart, those with an answer included. */
  readonly #recalled: readonly OpenQuestion[];

  constructor(options: BridgedCallOptions) {
    this.#options = options;
    this.#recalled = options.before === undefined ? [] : this.#recall(options.before);
  }

  /** The client has been asked and has not answered yet, so no request waits for the call. */
  get isParked(): boolean {
    return !this.#isOver && this.#result === undefined;
  }

  /** Resolves when the request at the server is over: of one that was stopped, the cancellation is on its way. */
  get ran(): Promise<void> | undefined {
    return this.#ran;
  }

  /** Sends the call. */
  start(downstream: Downstream): Promise<RoundResult> {
    const result = this.#attach(0, downstream);
    this.#run();
    return result;
  }

  /** Resumes a call that was parked before a restart, for a client that is about to `answer`. */
  revive(): void {
    this.#run();
  }

  /** Takes the answers to a round, once. @param responses by the keys of the questions. */
  answer(round: number, responses: JsonObject, downstream: Downstream): Promise<RoundResult> {
    const before = this.#results.get(round);
    if (before !== undefined) {
      // The same answers once more, while their round still runs.
      const isRunning = round === this.#round && this.#result !== undefined;
      if (isRunning) this.#attached = [...this.#attached, downstream];
      return before;
    }
    if (round !== this.#round) return refuse("requestState is of a round that there was not");
    const answers = this.#open.answersIn(responses, this.#shown);
    if (typeof answers === "string") return refuse(answers);
    const isNoNews = answers.length === 0 && this.#open.areAll(this.#shown);
    // A client that no longer declares what the questions need could never answer them.
    if (isNoNews && lackingForQuestion(this.#shown, downstream.capabilities) === undefined) {
      return Promise.resolve({ kind: "asked", round, questions: this.#shown });
    }
    const given = Object.fromEntries(answers.map(({ key, response }) => [key, response]));
    this.#options.journal.answered(given);
    const result = this.#attach(round, downstream);
    for (const { key, response } of answers) this.#open.settle(key, { result: response });
    // Questions without an answer are asked again.
    if (this.#open.size > 0) this.#gather();
    return result;
  }

  /** A request has been disconnected; when it was the last one to wait, that cancels the call. */
  leave(downstream: Downstream): void {
    if (!this.#attached.includes(downstream)) return;
    this.#attached = this.#attached.filter((other) => other !== downstream);
    if (this.#attached.length > 0) return;
    const why = new Error("The client closed the stream");
    this.stop(why, errorReply(ErrorCode.InternalError, "The request was cancelled"));
  }

  /**
   * Ends the call: the server gets an error for each open question, and then the cancellation.
   *
   * @param reply for the requests that wait, or that answer later.
   */
  stop(why: Error, reply: Reply): void {
    this.#end(reply);
    this.#open.settleAll(errorReply(ErrorCode.InternalError, why.message));
    // RoundAnswers take some microtasks to reach the wire, and are dropped once the request is withdrawn.
    setTimeout(() => this.#cancel.abort(why), 0);
  }

  #recall({ rounds, last, given }: EarlierLife): readonly OpenQuestion[] {
    for (const [index, questions] of rounds.entries()) {
      this.#results.set(index, Promise.resolve({ kind: "asked", round: index + 1, questions }));
      this.#shown = questions;
    }
    this.#round = rounds.length;
    this.#asked = last.asked;
    this.#resumeToken = last.resumeToken;
    // The server may have received these. It matches answers by their ids, and ignores one that it already has.
    const answered = (resumeToken: string, reply: Reply): OpenQuestion => {
      this.#undelivered.set(resumeToken, reply);
      const wait = this.#delivering(resumeToken, Promise.resolve(reply));
      return { resumeToken, wait };
    };
    const asked = Object.entries(last.undelivered ?? {}).map((one) => answered(...one));
    for (const [key, call] of Object.entries(this.#shown)) {
      const resumeToken = last.questionTokens[key];
      if (resumeToken === undefined) continue;
      const result = given[key];
      asked.push(
        result === undefined
          ? { resumeToken, wait: this.#awaiting(key, call, resumeToken) }
          : answered(resumeToken, { result }),
      );
    }
    return asked;
  }

  /** Adds an open question. @returns what waits for its answer, and closes it when the server withdraws it. */
  #awaiting(key: string, call: Call, resumeToken: string | undefined): Delivering {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const settle = (reply: Reply): void => {
      if (resumeToken !== undefined) this.#undelivered.set(resumeToken, reply);
      resolve(reply);
    };
    this.#open.add(key, { call, resumeToken, settle });
    const deliver = this.#delivering(resumeToken, promise);
    return (withdrawn, delivered) => {
      withdrawn.addEventListener("abort", () => this.#open.settle(key, GONE), { once: true });
      return deliver(withdrawn, delivered);
    };
  }

  /** @returns what waits for the reply, and forgets it when the server has it or has withdrawn the question. */
  #delivering(resumeToken: string | undefined, reply: Promise<Reply>): Delivering {
    const forget = (): void => {
      if (resumeToken !== undefined) this.#undelivered.delete(resumeToken);
    };
    return (withdrawn, delivered) => {
      withdrawn.addEventListener("abort", forget, { once: true });
      void delivered?.then(forget);
      return reply;
    };
  }

  #run(): void {
    const peer: Peer = {
      notify: async (notice, resumeToken) => {
        this.#resumeToken = resumeToken ?? this.#resumeToken;
        // While the client decides, no request is attached.
        const downstream = this.#attached.at(-1);
        const relayed = downstream === undefined ? undefined : noticeFor(downstream, notice);
        if (downstream === undefined || relayed === undefined) return;
        if (this.#gathering === null) {
          await downstream.notify(relayed, resumeToken);
          return;
        }
        this.#held.push(() => {
          // A client with this resume token would resume the call after questions that may not be written down yet.
          const isLast = this.#open.size === 0;
          const sent = downstream.notify(relayed, isLast ? resumeToken : undefined);
          sent.catch(() => undefined); // the client has gone
        });
      },
      ask: (...question) => this.#ask(...question),
      primed: (resumeToken) => {
        this.#resumeToken = resumeToken ?? this.#resumeToken;
      },
    };
    this.#ran = this.#options.run(peer, this.#cancel.signal, this.#recalled).then(
      (reply) => this.#end(reply),
      () => undefined, // the call was stopped, and has its reply already
    );
  }

  #attach(round: number, downstream: Downstream): Promise<RoundResult> {
    this.#result = Promise.withResolvers<RoundResult>();
    this.#results.set(round, this.#result.promise);
    this.#attached = [downstream];
    return this.#result.promise;
  }

  #ask(...[call, withdrawn, resumeToken, delivered]: Parameters<Peer["ask"]>): Promise<Reply> {
    this.#resumeToken = resumeToken ?? this.#resumeToken;
    if (this.#asked === MAX_QUESTIONS) {
      this.#giveUp(`asked more than ${MAX_QUESTIONS} questions in one request, and was stopped`);
    }
    if (this.#isOver) return Promise.resolve(GONE);
    const wait = this.#awaiting(`r${++this.#asked}`, call, resumeToken);
    const { maxQuestionBytes } = this.#options;
    if (this.#open.bytes > maxQuestionBytes) {
      this.#giveUp(`asked more than ${maxQuestionBytes} bytes in one request, and was stopped`);
    } else this.#gather();
    return wait(withdrawn, delivered);
  }

  #gather(): void {
    if (this.#result === undefined || this.#gathering !== null) return;
    this.#gathering = setTimeout(() => {
      this.#gathering = null;
      this.#park();
      this.#letGo();
    }, this.#options.gatherMs);
  }

  /** Sends the notices that came while questions were gathered. */
  #letGo(): void {
    for (const send of this.#held.splice(0)) send();
  }

  #park(): void {
    const result = this.#result;
    if (result === undefined) return;
    this.#open.refuseUnaskable(this.#attached.at(-1)?.capabilities ?? {});
    // All questions were withdrawn meanwhile, or refused.
    if (this.#open.size === 0) return;
    const questions = this.#open.shown();
    const round = this.#round + 1;
    const refusal = this.#write({
      round,
      questions,
      questionTokens: this.#open.resumeTokens(),
      resumeToken: this.#resumeToken,
      asked: this.#asked,
      ...(this.#undelivered.size > 0 && { undelivered: Object.fromEntries(this.#undelivered) }),
    });
    if (refusal !== undefined) {
      this.#giveUp(refusal);
      return;
    }
    this.#round = round;
    this.#shown = questions;
    this.#result = undefined;
    this.#attached = [];
    result.resolve({ kind: "asked", round, questions });
  }

  /** @returns the predicate of a sentence about the server when the call cannot be parked. */
  #write(parked: Parked): string | undefined {
    if (parked.round > MAX_ROUNDS) return `still asked after ${MAX_ROUNDS} rounds, and was stopped`;
    try {
      return this.#options.journal.park(parked);
    } catch (error) {
      const reference = logUnexpected(error);
      return `asked what could not be kept, and was stopped (reference ${reference})`;
    }
  }

  /** @param sentence the predicate of a sentence about the server. */
  #giveUp(sentence: string): void {
    const { slug } = this.#options;
    const reply = errorReply(ErrorCode.InternalError, `Upstream "${slug}" ${sentence}`, {
      upstream: slug,
    });
    this.stop(new Error("A limit of the gateway was reached"), reply);
  }

  #end(reply: Reply): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#gathering);
    this.#letGo();
    this.#attached = [];
    this.#options.journal.over(reply);
    const over: RoundResult = { kind: "over", reply };
    // The call was parked when it ended: the request with the answers gets this result.
    if (this.#result === undefined) this.#results.set(this.#round, Promise.resolve(over));
    this.#result?.resolve(over);
    this.#result = undefined;
  }
}

function refuse(sentence: string): Promise<RoundResult> {
  return Promise.resolve({ kind: "refused", sentence });
}
