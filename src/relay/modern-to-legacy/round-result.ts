/** What a downstream request of a call is answered with, and what of a call must outlive memory. */

import type { JsonObject, Reply } from "../../protocol/json-rpc.ts";
import type { Questions } from "./open-questions.ts";

export type RoundResult =
  | { readonly kind: "over"; readonly reply: Reply }
  | { readonly kind: "asked"; readonly round: number; readonly questions: Questions }
  /** Nothing was taken; a sentence on what is wrong with the answers. */
  | { readonly kind: "refused"; readonly sentence: string };

/** What it takes to go on after a round of questions when the memory of the holder is lost. */
export interface Parked {
  /** From 1 on. */
  readonly round: number;
  readonly questions: Questions;
  /** What answers each question; one may have none. */
  readonly tickets: Readonly<Record<string, string>>;
  /** What takes up the server's stream after the last thing that it said. */
  readonly ticket: string | undefined;
  /** How many keys were given to questions so far. */
  readonly asked: number;
}

/** Where a call writes down what must outlive its memory, before anybody hears of it. */
export interface Journal {
  /** @returns half a sentence on the server when the call cannot be parked. */
  park(parked: Parked): string | undefined;
  /**
   * The client came back to the last round.
   *
   * @param given what it answered, by the keys of the questions; other questions are still open.
   */
  answered(given: Answers): void;
  over(reply: Reply): void;
}

/** By the keys of their questions. */
export type Answers = Readonly<Record<string, JsonObject>>;

/** What an earlier life of the holder has left of a call. */
export interface EarlierLife {
  /** What was asked, round by round. */
  readonly rounds: readonly Questions[];
  /** As it was parked last. */
  readonly last: Pick<Parked, "tickets" | "ticket" | "asked">;
  /** What the last round was answered, if its client came back to it. */
  readonly given: Answers;
  /** Answers a question of that life. */
  readonly answer: (ticket: string, reply: Reply) => void;
}
