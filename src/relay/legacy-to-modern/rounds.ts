/**
 * One request of a legacy client at a modern server, through all its rounds: the questions in the
 * server's result are put to the client, and the request is sent again with the answers. By the
 * revision that continues the request and is not a second call (2026-07-28, multi round-trip
 * requests).
 */

import { sleep } from "../../lib/sleep.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import { isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { mayHaveRounds } from "../../protocol/methods.ts";
import { completeModernResult } from "../../protocol/modern-result.ts";
import type { DeclaringClient } from "../../protocol/revisions/translate-capabilities.ts";
import { askClient } from "./ask-client.ts";

/** The client is asked at most this often; the official SDK gives up after as many rounds. */
const MAX_ROUNDS = 8;
/** The pause for a server that gives a requestState without questions. */
const PAUSE_MS = 250;

export type RoundsOutcome =
  | { readonly kind: "reply"; readonly reply: Reply }
  /** The request cannot be completed with this client: the predicate of a sentence about the server. */
  | { readonly kind: "stuck"; readonly sentence: string }
  /** The server has broken its revision: the predicate of a sentence about it. */
  | { readonly kind: "malformed"; readonly sentence: string };

export interface Rounds {
  readonly call: Call;
  readonly client: DeclaringClient;
  /** Asks the client. */
  readonly peer: Peer;
  readonly signal: AbortSignal;
  /** Sends the request of one round. Its rejections are those of the rounds. */
  readonly send: (call: Call) => Promise<Reply>;
}

/** Rejects with the reason of the signal, or as `send` does. */
export async function runRounds({
  call,
  client,
  peer,
  signal,
  send,
}: Rounds): Promise<RoundsOutcome> {
  for (let current = call, round = 0; ; round++) {
    const reply = await send(current);
    signal.throwIfAborted();
    if ("error" in reply) return { kind: "reply", reply };
    const result = completeModernResult(call.method, reply.result);
    if (result === undefined) return malformed("answered with a result type nobody asked for");
    if (result.resultType !== "input_required") return { kind: "reply", reply: { result } };

    const input = mayHaveRounds(call.method) ? readRequiredInput(result) : undefined;
    if (input === undefined) return malformed("asks for input in a way that its revision forbids");
    // The client is not asked for answers that would not be sent.
    if (round === MAX_ROUNDS) return stuck(`still asks for more after ${MAX_ROUNDS} rounds`);
    const asked = await askClient(input.inputRequests, client, peer, signal);
    signal.throwIfAborted();
    if (asked.kind === "failed") return stuck(asked.sentence);
    if (Object.keys(input.inputRequests).length === 0) await sleep(PAUSE_MS, signal);
    current = { ...call, params: { ...call.params, ...input.state, ...answering(asked) } };
  }
}

interface RequiredInput {
  readonly inputRequests: JsonObject;
  /** The requestState byte for byte, or nothing where the server gave none (MUST). */
  readonly state: { readonly requestState?: string };
}

/** @returns `undefined` for a result that asks for nothing, or whose members are malformed. */
function readRequiredInput({
  inputRequests = {},
  requestState,
}: JsonObject): RequiredInput | undefined {
  if (!isObject(inputRequests)) return undefined;
  if (typeof requestState === "string") return { inputRequests, state: { requestState } };
  // At least one of the two must be present (MUST).
  const isEmpty = Object.keys(inputRequests).length === 0;
  return requestState !== undefined || isEmpty ? undefined : { inputRequests, state: {} };
}

/** The answers of this round alone. */
function answering({ inputResponses }: { readonly inputResponses: JsonObject }): JsonObject {
  return Object.keys(inputResponses).length === 0 ? {} : { inputResponses };
}

function stuck(sentence: string): RoundsOutcome {
  return { kind: "stuck", sentence };
}

function malformed(sentence: string): RoundsOutcome {
  return { kind: "malformed", sentence };
}
