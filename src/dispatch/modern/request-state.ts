/**
 * Seals the `requestState` of a server for its way through a client: it is accepted only from the
 * client that got it, and only for the same server and method (2026-07-28, MRTR). The server gets it
 * back byte for byte.
 */

import type { Call } from "../../protocol/exchange.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { sealFor, unsealFor } from "../../endpoint/sealed.ts";
import type { RequestScope } from "../../catalog/request-scope.ts";

type Holder = Pick<RequestScope, "endpoint" | "keys" | "principal" | "route">;

export type StateReading =
  /** A first round, or the server gave no state. */
  | { readonly kind: "none" }
  /** `state` is the server's own, if it gave one. */
  | {
      readonly kind: "state";
      readonly slug: string;
      readonly state?: string;
      /** The gateway itself had asked: the server needs a person's account. */
      readonly connecting?: ConnectRound;
    }
  /**
   * Answers without the state that every question here has: they belong to no known question, and no
   * server gets them. The request counts as a first one, and its server asks again (SEP-2322: SHOULD).
   */
  | { readonly kind: "unasked" }
  /** The state was not given to this client, at this endpoint, for this method. */
  | { readonly kind: "foreign" };

/** A round in which the client's person was asked to connect an account. */
export interface ConnectRound {
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  /** The client's answers to the server's own questions, which the round has interrupted. */
  readonly responses?: JsonObject;
}

/** Answers that are longer are dropped, and the server asks again: clients carry the state. */
const MAX_RESPONSES_CHARS = 8192;

/**
 * The server of a resource may change between rounds, or may be known only by asking. There the gateway
 * gives a state even if the server has none, so that no other server gets the answers.
 */
function isAlwaysLed({ endpoint }: Holder, method: string): boolean {
  return endpoint.isMerged && method === "resources/read";
}

/** Opens the sealed state of a call. */
export async function readState(holder: Holder, { method, params }: Call): Promise<StateReading> {
  const sent = params?.requestState;
  if (sent === undefined) {
    const isAnswer = params?.inputResponses !== undefined;
    return { kind: isAnswer && isAlwaysLed(holder, method) ? "unasked" : "none" };
  }
  const sealed =
    typeof sent === "string" ? await unsealFor(holder, "request-state", sent) : undefined;
  if (!isObject(sealed) || sealed["m"] !== method) return { kind: "foreign" };
  const { s: slug, v: state, c: connecting } = sealed;
  if (typeof slug !== "string") return { kind: "foreign" };
  const round = connecting === undefined ? undefined : { connecting: connecting as ConnectRound };
  if (state === undefined) return { kind: "state", slug, ...round };
  return typeof state === "string" ? { kind: "state", slug, state, ...round } : { kind: "foreign" };
}

/** @returns the call with the state as its server gave it, or without one. */
export function withState({ method, params }: Call, reading: StateReading): Call {
  if (params === undefined) return { method };
  if (reading.kind === "unasked") {
    const { inputResponses: _, ...rest } = params;
    return { method, params: rest };
  }
  if (reading.kind !== "state") return { method, params };
  const { requestState: _, ...rest } = params;
  const { state, connecting } = reading;
  const own = connecting === undefined ? rest : withResponses(rest, connecting.responses);
  return { method, params: state === undefined ? own : { ...own, requestState: state } };
}

/** The answers to the server's questions, in place of the answer to the gateway's own. */
function withResponses(params: JsonObject, responses: JsonObject | undefined): JsonObject {
  const { inputResponses: _, ...rest } = params;
  return responses === undefined ? rest : { ...rest, inputResponses: responses };
}

/** Seals the state of a result that asks for input. A result without a state mostly gets none. */
export async function sealState(
  holder: Holder,
  slug: string,
  method: string,
  result: JsonObject,
): Promise<JsonObject> {
  const { requestState: state, ...rest } = result;
  // A state must be a string.
  const own = typeof state === "string" ? { v: state } : undefined;
  if (own === undefined && !isAlwaysLed(holder, method)) return rest;
  const sealed = await sealFor(holder, "request-state", { s: slug, m: method, ...own });
  return { ...rest, requestState: sealed };
}

/**
 * The state of a round in which the gateway asks for an account.
 *
 * @param call as the server would have got it: its own state and answers are kept for the next round.
 */
export function sealConnectRound(
  holder: Holder,
  slug: string,
  { method, params }: Call,
  askedAt: number,
): Promise<string> {
  const { requestState: state, inputResponses: responses } = params ?? {};
  const isKept = isObject(responses) && JSON.stringify(responses).length <= MAX_RESPONSES_CHARS;
  const round: ConnectRound = { askedAt, ...(isKept ? { responses } : {}) };
  const own = typeof state === "string" ? { v: state } : undefined;
  return sealFor(holder, "request-state", { s: slug, m: method, ...own, c: round });
}
