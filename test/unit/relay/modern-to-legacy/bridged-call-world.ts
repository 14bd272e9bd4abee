/** A bridged call with a server that a test controls, and clients that come and go. */

import { vi } from "vitest";

import {
  BridgedCall,
  type BridgedCallOptions,
  type Journal,
  type RoundResult,
} from "../../../../src/relay/modern-to-legacy/bridged-call.ts";
import type {
  Downstream,
  RequestDeclarations,
} from "../../../../src/relay/modern-to-legacy/downstream.ts";
import type { RoundAnswers, Parked } from "../../../../src/relay/modern-to-legacy/parked-calls.ts";
import type { Call, Peer } from "../../../../src/protocol/exchange.ts";
import type { JsonObject, Reply } from "../../../../src/protocol/json-rpc.ts";

export const GATHER_MS = 50;
export const MAX_QUESTION_BYTES = 64 * 1024;
export const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
export const DONE: Reply = { result: { content: [] } };

export const form = (message = "Sure?"): Call => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties: {} } },
});
export const ROOTS: Call = { method: "roots/list" };
export const SAMPLE: Call = {
  method: "sampling/createMessage",
  params: { messages: [], maxTokens: 1 },
};
export const accept = (content: JsonObject = {}): JsonObject => ({ action: "accept", content });

/** One question of the server's, as the server sees it. */
export interface Question {
  readonly resumeToken: string;
  /** Its answers, one for each time that it was answered. */
  readonly replies: Reply[];
  withdraw(): void;
}

/** The other end of the call. */
export class AskingServer {
  readonly questions: Question[] = [];
  /** Why the call was given up, if it was. */
  cancelled: unknown;
  #peer: Peer | undefined;
  readonly #end = Promise.withResolvers<Reply>();

  readonly run: BridgedCallOptions["run"] = (peer, signal) => {
    this.#peer = peer;
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => {
      this.cancelled = signal.reason;
      reject(signal.reason as Error);
    });
    return Promise.race([this.#end.promise, promise]);
  };

  get peer(): Peer {
    if (this.#peer === undefined) throw new Error("The call was not sent");
    return this.#peer;
  }

  ask(call: Call): Question {
    const resumeToken = `t${this.questions.length + 1}`;
    const withdrawal = new AbortController();
    const replies: Reply[] = [];
    this.questions.push({ resumeToken, replies, withdraw: () => withdrawal.abort() });
    void this.peer.ask(call, withdrawal.signal, resumeToken).then((reply) => replies.push(reply));
    return this.questions.at(-1) as Question;
  }

  end(reply: Reply = DONE): void {
    this.#end.resolve(reply);
  }
}

/** Keeps the values that are written, as rows would. */
class FakeJournal implements Journal {
  readonly parked: Parked[] = [];
  readonly given: RoundAnswers[] = [];
  reply: Reply | undefined;
  refusal: string | undefined;

  park(parked: Parked): string | undefined {
    if (this.refusal === undefined) this.parked.push(parked);
    return this.refusal;
  }

  answered(given: RoundAnswers): void {
    this.given.push(given);
  }

  over(reply: Reply): void {
    if (this.reply !== undefined) throw new Error("It was over before");
    this.reply = reply;
  }
}

/** One request of the client's. */
export class Visitor implements Downstream {
  readonly capabilities: JsonObject;
  readonly notices: Call[] = [];
  /** The places from which it would resume the call. */
  readonly resumeTokens: string[] = [];
  turn: RoundResult | undefined;

  constructor(wishes: Partial<RequestDeclarations> = {}) {
    Object.assign(this, wishes);
    this.capabilities = wishes.capabilities ?? ALL;
  }

  notify(notice: Call, resumeToken?: string): Promise<void> {
    this.notices.push(notice);
    if (resumeToken !== undefined) this.resumeTokens.push(resumeToken);
    return Promise.resolve();
  }
}

export interface Fixture {
  readonly call: BridgedCall;
  readonly server: AskingServer;
  readonly journal: FakeJournal;
}

/** Wants fake timers. */
function makeCall(options: Pick<BridgedCallOptions, "before"> = {}): Fixture {
  const server = new AskingServer();
  const journal = new FakeJournal();
  const { run } = server;
  const call = new BridgedCall({
    ...{ slug: "fake", run, gatherMs: GATHER_MS, journal },
    ...{ maxQuestionBytes: MAX_QUESTION_BYTES, ...options },
  });
  return { call, server, journal };
}

/** Sends it. */
export function startCall(
  visitor = new Visitor(),
): Fixture & { readonly turn: Promise<RoundResult> } {
  const fixture = makeCall();
  return { ...fixture, turn: fixture.call.start(visitor) };
}

/** Lets everything happen that waits for no more than this. */
export async function pass(ms = GATHER_MS): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
}

/** Sends a call that is asked these, and parked. */
export async function parkCall(
  questions: readonly Call[],
  visitor = new Visitor(),
): Promise<Fixture & { readonly asked: Extract<RoundResult, { kind: "asked" }> }> {
  const { turn, ...fixture } = startCall(visitor);
  for (const question of questions) fixture.server.ask(question);
  await pass();
  const asked = await turn;
  if (asked.kind !== "asked") throw new Error(`Not asked: ${JSON.stringify(asked)}`);
  return { ...fixture, asked };
}
