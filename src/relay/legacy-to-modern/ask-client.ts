/**
 * The questions in an `input_required` result, put to a legacy client as real requests: all at once,
 * and the first failure withdraws the others. When one of them cannot be asked, none is: the answers
 * of people to the others would be lost.
 */

import { cleanText } from "../../lib/clean-text.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { askLegacyClient } from "../../protocol/revisions/ask-legacy-client.ts";
import type { DeclaringClient } from "../../protocol/revisions/translate-capabilities.ts";
import { withoutEnvelopeAndTasks } from "../../protocol/revisions/reserved-meta.ts";

export type AskOutcome =
  | { readonly kind: "answered"; readonly inputResponses: JsonObject }
  /** The predicate of a sentence about the server, for the client of the call. */
  | { readonly kind: "failed"; readonly sentence: string };

interface Question {
  readonly key: string;
  readonly call: Call;
}

/** A server that asks more at once is considered faulty. */
const MAX_QUESTIONS = 32;
const MAX_REASON_CHARS = 200;

/**
 * @param signal aborted when the call is over: the questions are withdrawn.
 * @returns the answers by the server's own keys. Never rejects.
 */
export async function askClient(
  inputRequests: JsonObject,
  client: DeclaringClient,
  peer: Peer,
  signal: AbortSignal,
): Promise<AskOutcome> {
  const questions = prepare(inputRequests, client);
  return typeof questions === "string" ? failed(questions) : askAll(questions, peer, signal);
}

/** @returns the predicate of a sentence about the server when its questions cannot be put. */
function prepare(inputRequests: JsonObject, client: DeclaringClient): readonly Question[] | string {
  const entries = Object.entries(inputRequests);
  if (entries.length > MAX_QUESTIONS) {
    return `asks ${entries.length} questions at once; ${MAX_QUESTIONS} are put to a client at most`;
  }
  const questions: Question[] = [];
  for (const [key, request] of entries) {
    const call = readCall(request);
    if (call === undefined) return "asks something that is no request";
    const askable = askLegacyClient(call, client, () => crypto.randomUUID());
    if (askable.kind === "unsupported") {
      return `needs ${askable.lacking}, which this client does not have`;
    }
    questions.push({ key, call: askable.call });
  }
  return questions;
}

function readCall(request: unknown): Call | undefined {
  if (!isObject(request)) return undefined;
  const { method, params } = request;
  if (typeof method !== "string") return undefined;
  if (params === undefined) return { method };
  return isObject(params) ? { method, params } : undefined;
}

async function askAll(
  questions: readonly Question[],
  peer: Peer,
  signal: AbortSignal,
): Promise<AskOutcome> {
  const withdrawal = new AbortController();
  const withdrawn = AbortSignal.any([signal, withdrawal.signal]);
  let failure: string | undefined;
  const answers = await Promise.all(
    questions.map(async ({ key, call }) => {
      const reply = await peer.ask(call, withdrawn);
      if ("result" in reply) return [key, withoutEnvelopeAndTasks(reply.result)] as const;
      // Later failures follow from the first one.
      failure ??= `asked this client for ${call.method}, which failed: ${cleanText(reply.error.message, MAX_REASON_CHARS)}`;
      withdrawal.abort(new Error("Another question of the same call has failed"));
      return undefined;
    }),
  );
  if (failure !== undefined) return failed(failure);
  // The server chooses the keys, so `__proto__` must be safe.
  const inputResponses = Object.fromEntries(answers.filter((answer) => answer !== undefined));
  return { kind: "answered", inputResponses };
}

function failed(sentence: string): AskOutcome {
  return { kind: "failed", sentence };
}
