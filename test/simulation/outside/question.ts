/** What a server asks in a call, and what came of it. */

import type { Json } from "./actor.ts";

export interface Question {
  readonly name: string;
  /** How often the client was shown it. */
  shown: number;
  /** Its answer was taken with 202. */
  isAccepted: boolean;
  /** How often its answer reached the server. */
  answers: number;
  /** What reached the server was the client's, and not an error of the gateway. */
  hasResult: boolean;
  /** The client was told that nobody waits for the answer any more. */
  isWithdrawn: boolean;
  /** The server sent the same question again by itself. */
  isRepeated: boolean;
}

export function questionNamed(name: string): Question {
  return {
    ...{ name, shown: 0, isAccepted: false, answers: 0 },
    ...{ hasResult: false, isWithdrawn: false, isRepeated: false },
  };
}

/** @returns what a server asks with. */
export function formOf(name: string): Json {
  const requestedSchema = { type: "object", properties: { value: { type: "string" } } };
  return { message: name, requestedSchema };
}

/** @returns the answer to a form, which names its question. */
export function answerTo(name: string): Json {
  return { action: "accept", content: { value: name } };
}

/** @returns the question that the answer names; `undefined` for an error of the gateway. */
export function questionOf(answer: unknown): string | undefined {
  return /"value":"([^"]*)"/.exec(JSON.stringify(answer) ?? "")?.[1];
}

/** @returns the result of 2026-07-28 by which a server asks in the call of this name. */
export function inputRequired(call: string): Json {
  const params = { mode: "form", ...formOf(`${call}?`) };
  const inputRequests = { question: { method: "elicitation/create", params } };
  return { resultType: "input_required", inputRequests, requestState: call };
}

/** To the gateway, a question that its server repeats is another one. */
export function isWithdrawnInVain({ hasResult, isWithdrawn, isRepeated }: Question): boolean {
  return hasResult && isWithdrawn && !isRepeated;
}

/** At an endpoint of several servers, the gateway says who asks. */
export function questionIn(message: unknown): string {
  return String(message).replace(/^\[[\w-]+\] /, "");
}
