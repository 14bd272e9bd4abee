/** The open questions of a server in one call. */

import { jsonBytes } from "../../lib/json-bytes.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call } from "../../protocol/exchange.ts";
import { errorReply, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { askModernClient } from "../../protocol/revisions/ask-modern-client.ts";
import { withoutEnvelopeAndTasks } from "../../protocol/revisions/reserved-meta.ts";
import { isAnswerTo } from "./answer-shape.ts";

/** Questions by the keys of the call, as in the `inputRequests` of a result. */
export type Questions = Readonly<Record<string, Call>>;

interface OpenQuestion {
  readonly call: Call;
  /** The resume token that answers the question after a restart of the holder, if there is one. */
  readonly resumeToken: string | undefined;
  readonly settle: (reply: Reply) => void;
}

export interface QuestionAnswer {
  readonly key: string;
  readonly response: JsonObject;
}

export class OpenQuestions {
  readonly #open = new Map<string, OpenQuestion>();
  #bytes = 0;

  /** The size of all questions, open or not, because the rounds are kept to be repeated. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#open.size;
  }

  get keys(): readonly string[] {
    return [...this.#open.keys()];
  }

  add(key: string, question: OpenQuestion): void {
    this.#open.set(key, question);
    this.#bytes += jsonBytes(question.call);
  }

  /** Each question is answered once; the reply to one that is no longer open is dropped. */
  settle(key: string, reply: Reply): void {
    const question = this.#open.get(key);
    this.#open.delete(key);
    question?.settle(reply);
  }

  settleAll(reply: Reply): void {
    for (const key of this.keys) this.settle(key, reply);
  }

  /** Refuses the questions that the request to be answered does not declare (MRTR: MUST NOT). */
  refuseUnaskable(capabilities: JsonObject): void {
    for (const [key, question] of this.#open) {
      const askable = askModernClient(question.call, capabilities);
      if (askable.kind === "ask") this.#open.set(key, { ...question, call: askable.call });
      else this.settle(key, refusalOf(question.call, askable.lacking));
    }
  }

  /** The questions as they are put to the client. */
  shown(): Questions {
    return Object.fromEntries(Array.from(this.#open, ([key, { call }]) => [key, call]));
  }

  resumeTokens(): Readonly<Record<string, string>> {
    const tokens: Record<string, string> = {};
    for (const [key, { resumeToken }] of this.#open) {
      if (resumeToken !== undefined) tokens[key] = resumeToken;
    }
    return tokens;
  }

  /** True when these are exactly the open questions. */
  areAll(questions: Questions): boolean {
    const keys = Object.keys(questions);
    return keys.length === this.#open.size && keys.every((key) => this.#open.has(key));
  }

  /**
   * Reads the answers to the open questions of a round; other keys are ignored (MRTR).
   *
   * @returns a sentence on the first answer of a wrong shape.
   */
  answersIn(responses: JsonObject, asked: Questions): readonly QuestionAnswer[] | string {
    const answers: QuestionAnswer[] = [];
    for (const [key, { call }] of this.#open) {
      const response = Object.hasOwn(asked, key) ? responses[key] : undefined;
      if (response === undefined) continue;
      if (!isAnswerTo(call.method, response)) {
        return `inputResponses.${key} is no answer to ${call.method}`;
      }
      answers.push({ key, response: withoutEnvelopeAndTasks(response) });
    }
    return answers;
  }
}

/** @returns the first ability that a client lacks for these questions; `undefined` for none. */
export function lackingForQuestion(
  questions: Questions,
  capabilities: JsonObject,
): string | undefined {
  for (const question of Object.values(questions)) {
    const askable = askModernClient(question, capabilities);
    if (askable.kind === "unsupported") return askable.lacking;
  }
  return undefined;
}

/** The codes of 2025-11-25 for what a client has not declared (elicitation, roots, sampling). */
function refusalOf({ method }: Call, lacking: string): Reply {
  const isMode = method === "elicitation/create" && lacking !== "elicitation";
  const code = isMode ? ErrorCode.InvalidParams : ErrorCode.MethodNotFound;
  return errorReply(code, `This client does not have ${lacking}`);
}
