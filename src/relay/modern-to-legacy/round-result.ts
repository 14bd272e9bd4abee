/** The result of one round of a call, and the state of a call that must outlive memory. */

import type { JsonObject, Reply } from "../../protocol/json-rpc.ts";
import type { Questions } from "./open-questions.ts";

export type RoundResult =
  | { readonly kind: "over"; readonly reply: Reply }
  | { readonly kind: "asked"; readonly round: number; readonly questions: Questions }
  /** No answer was taken; a sentence on the fault of the answers. */
  | { readonly kind: "refused"; readonly sentence: string };

/** The state of a call after a round of questions, from which it goes on after a restart. */
export interface Parked {
  /** From 1 on. */
  readonly round: number;
  readonly questions: Questions;
  /** The resume token that answers each question; a question may have none. */
  readonly tickets: Readonly<Record<string, string>>;
  /** The resume token of the server's last message. */
  readonly ticket: string | undefined;
  /** The number of keys given to questions so far. */
  readonly asked: number;
}

/** Stores the state of a call that must outlive memory, before any client receives it. */
export interface Journal {
  /** @returns the predicate of a sentence about the server when the call cannot be parked. */
  park(parked: Parked): string | undefined;
  /**
   * Stores the client's answers to the last round.
   *
   * @param given the answers, by the keys of the questions; other questions are still open.
   */
  answered(given: Answers): void;
  over(reply: Reply): void;
}

/** Answers by the keys of their questions. */
export type Answers = Readonly<Record<string, JsonObject>>;

/** The state of a call that was parked before a restart of the holder. */
export interface EarlierLife {
  /** The questions, round by round. */
  readonly rounds: readonly Questions[];
  /** Of the last round. */
  readonly last: Pick<Parked, "tickets" | "ticket" | "asked">;
  /** The answers to the last round, if its client has answered. */
  readonly given: Answers;
  /** Answers a question that was asked before the restart. */
  readonly answer: (resumeToken: string, reply: Reply) => void;
}
