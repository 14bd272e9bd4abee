/**
 * One request of a legacy client at a modern server, through all its rounds: what the server asks in
 * its result is put to the client, and the request is made again with the answers. That is how the
 * request goes on, by its revision, and not a second call (2026-07-28, multi round-trip requests).
 */

import { sleep } from "../../lib/sleep.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import { isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { mayHaveRounds } from "../../protocol/methods.ts";
import { completeModernResult } from "../../protocol/modern-result.ts";
import type { DeclaringClient } from "../../protocol/revisions/translate-capabilities.ts";
import { askClient } from "./ask-client.ts";

/** So often is the client asked; the official SDK gives up after as many. */
const MAX_ROUNDS = 8;
/** A server that only says "come again" is given time to get on. */
const PAUSE_MS = 250;

export type RoundsOutcome =
  | { readonly kind: "reply"; readonly reply: Reply }
  /** It cannot be brought to an end with this client: half a sentence on the server. */
  | { readonly kind: "stuck"; readonly sentence: string }
  /** The server has not kept to its revision: half a sentence on it. */
  | { readonly kind: "malformed"; readonly sentence: string };

export interface Rounds {
  readonly call: Call;
  readonly client: DeclaringClient;
  /** Asks the client. */
  readonly peer: Peer;
  readonly signal: AbortSignal;
  /** Makes the request of one round. Its rejections are those of the rounds. */
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
    if (result["resultType"] !== "input_required") return { kind: "reply", reply: { result } };

    const wanted = mayHaveRounds(call.method) ? readWanted(result) : undefined;
    if (wanted === undefined) return malformed("asks for input in a way that its revision forbids");
    // Nobody is asked for what would not be sent.
    if (round === MAX_ROUNDS) return stuck(`still asks for more after ${MAX_ROUNDS} rounds`);
    const asked = await askClient(wanted.inputRequests, client, peer, signal);
    signal.throwIfAborted();
    if (asked.kind === "failed") return stuck(asked.sentence);
    if (Object.keys(wanted.inputRequests).length === 0) await sleep(PAUSE_MS, signal);
    current = { ...call, params: { ...call.params, ...wanted.state, ...answering(asked) } };
  }
}

interface Wanted {
  readonly inputRequests: JsonObject;
  /** Byte for byte as it came, or nothing where nothing came (MUST). */
  readonly state: { readonly requestState?: string };
}

/** @returns `undefined` for a result that asks for nothing, or in no way that can be met. */
function readWanted({ inputRequests = {}, requestState }: JsonObject): Wanted | undefined {
  if (!isObject(inputRequests)) return undefined;
  if (typeof requestState === "string") return { inputRequests, state: { requestState } };
  // At least one of the two has to be there (MUST).
  const isEmpty = Object.keys(inputRequests).length === 0;
  return requestState !== undefined || isEmpty ? undefined : { inputRequests, state: {} };
}

/** The answers of this round and of no other. */
function answering({ inputResponses }: { readonly inputResponses: JsonObject }): JsonObject {
  return Object.keys(inputResponses).length === 0 ? {} : { inputResponses };
}

function stuck(sentence: string): RoundsOutcome {
  return { kind: "stuck", sentence };
}

function malformed(sentence: string): RoundsOutcome {
  return { kind: "malformed", sentence };
}
