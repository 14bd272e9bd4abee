/**
 * A tool call that asks its client one thing after the other, and stops on the way where its script
 * has it stop, so that a test can pull a plug at exactly that moment.
 */

import type { Json } from "./clients-face.ts";

/** The arguments of the `ask` tool. */
export interface Questioning {
  /** Names the call: no two calls of an upstream share a name. */
  readonly call: string;
  readonly questions: number;
  /** Stops after so many answers; never, unless given. */
  readonly stopAfter?: number;
}

interface Client {
  /** @returns the whole response, when there is one. */
  ask(method: string, params: Json): Promise<Json>;
}

export class AskingCall {
  /** How often a client has asked for it: one is right. */
  posts = 0;
  /** Every response to a question, in order. */
  readonly answers: Json[] = [];
  /** What is lost on the way of the answers that are brought next: the connection breaks. */
  readonly losses: ("the answer" | "its receipt")[] = [];
  isCancelled = false;
  isOver = false;
  #stoppedAfter: number | undefined;
  #release: (() => void) | undefined;

  /** After how many answers it stands still, if it does. */
  get stoppedAfter(): number | undefined {
    return this.#stoppedAfter;
  }

  /** Lets it go on, to its end or to its next question. */
  release(): void {
    this.#release?.();
  }

  cancel(): void {
    this.isCancelled = true;
  }

  /** @returns the result of the tool. */
  async run({ call, questions, stopAfter }: Questioning, client: Client): Promise<Json> {
    const told: unknown[] = [];
    for (let number = 0; ; number++) {
      if (number === stopAfter) await this.#stop(number);
      if (number === questions) break;
      const response = await client.ask("elicitation/create", questionOf(call, number + 1));
      this.answers.push(response);
      const { content } = (response["result"] ?? {}) as { content?: { answer?: unknown } };
      told.push(content?.answer ?? "nothing");
    }
    this.isOver = true;
    return { content: [{ type: "text", text: told.join(", ") }] };
  }

  async #stop(number: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#release = resolve;
      this.#stoppedAfter = number;
    });
    this.#stoppedAfter = undefined;
  }
}

function questionOf(call: string, number: number): Json {
  return {
    mode: "form",
    message: messageOf(call, number),
    requestedSchema: { type: "object", properties: { answer: { type: "string" } } },
  };
}

/** What a client is asked, so that a test knows whose question it is. */
export function messageOf(call: string, number: number): string {
  return `${call}, question ${number}`;
}
