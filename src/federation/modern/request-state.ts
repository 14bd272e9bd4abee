/**
 * The state that a server gives along with its questions, on its way through a client: sealed, so
 * that it comes back to the server and the method that it was given for, from whoever got it, and
 * to nobody else (2026-07-28, MRTR). What the server gets back is what it gave, byte for byte.
 */

import type { Call } from "../../protocol/exchange.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { sealFor, unsealFor } from "../sealed.ts";
import type { Surroundings } from "../surroundings.ts";

type Holder = Pick<Surroundings, "keys" | "principal" | "route">;

export type StateReading =
  /** A first round; or the server gave none, and then it wants none back. */
  | { readonly kind: "none" }
  /** @see Call#params for the rest: this is the server's own. */
  | { readonly kind: "state"; readonly slug: string; readonly state: string }
  /** It was not given to this client, at this endpoint, for this method. */
  | { readonly kind: "foreign" };

/** Opens what a call brings back. */
export async function readState(holder: Holder, { method, params }: Call): Promise<StateReading> {
  const sent = params?.["requestState"];
  if (sent === undefined) return { kind: "none" };
  const sealed =
    typeof sent === "string" ? await unsealFor(holder, "request-state", sent) : undefined;
  if (!isObject(sealed) || sealed["m"] !== method) return { kind: "foreign" };
  const { s: slug, v: state } = sealed;
  return typeof slug === "string" && typeof state === "string"
    ? { kind: "state", slug, state }
    : { kind: "foreign" };
}

/** The call with the state as its server gave it. */
export function withState({ method, params }: Call, reading: StateReading): Call {
  return reading.kind === "state"
    ? { method, params: { ...params, requestState: reading.state } }
    : { method, ...(params === undefined ? {} : { params }) };
}

/** Seals the state of a result that asks for input. One without any stays without. */
export async function sealState(
  holder: Holder,
  slug: string,
  method: string,
  result: JsonObject,
): Promise<JsonObject> {
  const { requestState: state, ...rest } = result;
  if (state === undefined) return result;
  // Nothing but text could come back.
  if (typeof state !== "string") return rest;
  const sealed = await sealFor(holder, "request-state", { s: slug, m: method, v: state });
  return { ...rest, requestState: sealed };
}
