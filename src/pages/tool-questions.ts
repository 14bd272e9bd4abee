/** What a tool asks while it runs (2026-07-28, elicitation in rounds), as forms, and the answers of a person. */

import { isObject, type JsonObject } from "../protocol/json-rpc.ts";
import { type Field, formFields } from "./schema/form-fields.ts";
import { readForm } from "./schema/read-form.ts";

export interface Question {
  /** Of the input request. */
  readonly key: string;
  readonly message: string;
  /** Tells its fields from those of the other questions. */
  readonly prefix: string;
  readonly fields: readonly Field[];
  /** The page that a person is asked to visit. */
  readonly url: string | undefined;
}

/** @returns `undefined` when the console cannot answer all of them. */
export function questionsIn(requests: unknown): readonly Question[] | undefined {
  if (!isObject(requests)) return undefined;
  const entries = Object.entries(requests);
  const questions = entries.flatMap(([key, request], n) => questionIn(key, request, n) ?? []);
  return questions.length === entries.length ? questions : undefined;
}

function questionIn(key: string, request: unknown, n: number): Question | undefined {
  if (!isObject(request) || request["method"] !== "elicitation/create") return undefined;
  const { params } = request;
  if (!isObject(params)) return undefined;
  const { message, mode, url, requestedSchema } = params;
  const isVisit = mode === "url";
  // Links lead to pages alone: no other scheme is of use to a person, and some run scripts.
  if (isVisit && (typeof url !== "string" || !/^https?:\/\//i.test(url))) return undefined;
  return {
    ...{ key, prefix: `q${n}`, message: typeof message === "string" ? message : "" },
    fields: isVisit
      ? []
      : formFields({ properties: {}, ...(isObject(requestedSchema) && requestedSchema) }),
    url: isVisit ? String(url) : undefined,
  };
}

export type AnswersReading =
  /** The `inputResponses` of the next round. */
  | { readonly kind: "answers"; readonly responses: JsonObject }
  | { readonly kind: "errors"; readonly errors: ReadonlyMap<Field, string> };

export function readAnswers(form: URLSearchParams, questions: readonly Question[]): AnswersReading {
  if (form.get("action") !== "accept") {
    const declined = questions.map(({ key }) => [key, { action: "decline" }] as const);
    return { kind: "answers", responses: Object.fromEntries(declined) };
  }
  const errors = new Map<Field, string>();
  const responses = questions.map(({ key, prefix, fields, url }) => {
    const read = readForm(form, fields, prefix);
    if (read.kind === "errors") for (const error of read.errors) errors.set(...error);
    const content = url === undefined && read.kind === "values" && { content: read.values };
    return [key, { action: "accept", ...content }] as const;
  });
  if (errors.size > 0) return { kind: "errors", errors };
  return { kind: "answers", responses: Object.fromEntries(responses) };
}
