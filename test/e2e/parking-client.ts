/** A client whose call is parked when something goes down, and who goes on as soon as it can. */

import type { AskingCall } from "../support/asking-call.ts";
import { messageOf } from "../support/asking-call.ts";
import type { Json } from "../support/clients-face.ts";
import { type Answers, ModernCaller, type Turn } from "../support/modern-caller.ts";
import { pause, until } from "../support/until.ts";
import type { Plan } from "./parking-plan.ts";

/** How long a gateway may be away. */
const PATIENCE_MS = 120_000;
const PAUSE_MS = 50;

export class ParkingClient {
  readonly plan: Plan;
  readonly upstream: AskingCall;
  readonly #caller: ModernCaller;
  /** How many questions it has answered, as far as it knows. */
  #answered = 0;
  /** The last round that it was asked, and what it says to that. */
  #round: { readonly state: string; readonly answers: Answers } | undefined;
  /** A request that was under way when it went down. */
  #pending: Promise<Turn> | undefined;
  /** What its call came to. */
  outcome: Turn | undefined;
  /** Questions that were not its own, or came out of turn. */
  readonly strange: string[] = [];

  constructor(plan: Plan, origin: string, upstream: AskingCall) {
    this.plan = plan;
    this.upstream = upstream;
    this.#caller = new ModernCaller(`${origin}/mcp/${plan.upstream}`, "ask", plan.script);
  }

  /** Calls, and returns when the planned moment has come. */
  async begin(): Promise<void> {
    const { phase, answers } = this.plan;
    if (phase === "before the first question") {
      this.#pending = this.#caller.begin();
      await until(() => this.upstream.stoppedAfter === 0, "the call is at the server");
      return;
    }
    this.#take(await this.#caller.begin());
    if (phase === "at any time") {
      this.#pending = this.#flow();
      return;
    }
    while (this.#answered < answers - (phase === "answered" ? 1 : 0)) this.#take(await this.#say());
    if (phase !== "answered") return;
    this.#pending = this.#say();
    await until(() => this.upstream.stoppedAfter === answers, "the answer is at the server");
  }

  /** Goes on until it knows what its call came to. @param isBack when there is something to reach. */
  async finish(isBack: Promise<void>): Promise<void> {
    if (this.plan.goesOn === "while it is down") this.upstream.release();
    // Whoever lives on waits for the server, and it for whatever is down.
    const released = isBack.then(() => this.upstream.release());
    const broken = await this.#pending;
    await released;
    // A call that has sent no request to its client has nothing to resume.
    if (broken !== undefined && (broken.kind !== "broken" || this.#round === undefined)) {
      this.#take(broken);
    }
    const deadline = Date.now() + PATIENCE_MS;
    while (this.outcome === undefined) {
      const turn = await this.#say();
      if (turn.kind !== "broken") this.#take(turn);
      else if (Date.now() > deadline) this.#take(turn);
      else await pause(PAUSE_MS);
    }
  }

  /** Answers and answers, until it is over or the connection breaks. */
  async #flow(): Promise<Turn> {
    for (;;) {
      const turn = await this.#say();
      if (turn.kind !== "asked") return turn;
      this.#take(turn);
    }
  }

  #say(): Promise<Turn> {
    if (this.#round === undefined) throw new Error("Nothing was asked");
    return this.#caller.answer(this.#round.state, this.#round.answers);
  }

  #take(turn: Turn): void {
    if (turn.kind !== "asked") {
      this.outcome = turn;
      return;
    }
    if (this.#round !== undefined) this.#answered += 1;
    const [[key, question] = [], ...others] = Object.entries(turn.questions);
    const { message } = (question?.["params"] ?? {}) as Json;
    const expected = messageOf(this.plan.script.call, this.#answered + 1);
    if (message !== expected || others.length > 0)
      this.strange.push(JSON.stringify(turn.questions));
    const content = { answer: answerOf(this.plan, this.#answered + 1) };
    const answers = key === undefined ? {} : { [key]: { action: "accept", content } };
    this.#round = { state: turn.state, answers };
  }
}

function answerOf({ script }: Plan, number: number): string {
  return `${script.call} says ${number}`;
}

/** The result of the tool if each answer reached its question. */
export function resultOf(plan: Plan): Json {
  const said = Array.from({ length: plan.script.questions }, (_, index) =>
    answerOf(plan, index + 1),
  );
  return { content: [{ type: "text", text: said.join(", ") }] };
}
