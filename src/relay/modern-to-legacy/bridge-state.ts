/**
 * What a parked call's client carries, and brings back with its answers: which call, which round, and
 * what was called. It is sealed on its way through the client, to whoever it was given to. When it
 * ends, the holder of the call knows: a call may run on for long after the answers to it were taken.
 */

import { toBase64Url } from "../../lib/base64url.ts";
import { tryJson } from "../../lib/try-json.ts";
import type { Call } from "../../protocol/exchange.ts";
import { isObject } from "../../protocol/json-rpc.ts";

export type BridgeState =
  | {
      readonly kind: "parked";
      /** The id of the object that holds the call. */
      readonly object: string;
      readonly exchange: string;
      /** Whose answers are brought; from 1 on. */
      readonly round: number;
      readonly digest: string;
    }
  /** There is nothing to go on with: the request is made again, from its beginning. */
  | {
      readonly kind: "again";
      /** Under which keys pages were to be visited: `r1` and on. */
      readonly pages: number;
      readonly digest: string;
    };

/** Servers write states too. */
const MARK = "edgeway:";
/** Pages that one request may be sent to. */
export const MAX_PAGES = 32;

/** Whether it would be read here when it is brought back, or is meant to look so. */
export function isBridgeState(text: unknown): text is string {
  return typeof text === "string" && text.startsWith(MARK);
}

export function writeState(state: BridgeState): string {
  if (state.kind === "again") return MARK + JSON.stringify({ n: state.pages, d: state.digest });
  const { object: o, exchange: x, round: r, digest: d } = state;
  return MARK + JSON.stringify({ o, x, r, d });
}

/** @returns `undefined` for what was not written here: another server's, or one of another era. */
export function readBridgeState(text: unknown): BridgeState | undefined {
  const value = isBridgeState(text) ? tryJson(text.slice(MARK.length)) : undefined;
  if (!isObject(value)) return undefined;
  const { o: object, x: exchange, r: round, n: pages, d: digest } = value;
  if (typeof digest !== "string") return undefined;
  if (pages !== undefined) {
    const isInRange =
      Number.isSafeInteger(pages) && Number(pages) >= 1 && Number(pages) <= MAX_PAGES;
    return isInRange ? { kind: "again", pages: Number(pages), digest } : undefined;
  }
  const isWhole =
    typeof object === "string" && typeof exchange === "string" && Number.isSafeInteger(round);
  return isWhole ? { kind: "parked", object, exchange, round: Number(round), digest } : undefined;
}

/**
 * Tells whether a retry is of the same request: of what a client says anew with each request,
 * nothing counts, nor does the order in which it spells the rest.
 */
export async function digestOf({ method, params = {} }: Call): Promise<string> {
  const { _meta: _, inputResponses: __, requestState: ___, ...rest } = params;
  const text = JSON.stringify([method, inOrder(rest)]);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return toBase64Url(new Uint8Array(digest));
}

/** As deep as the request goes: whoever read it off the wire has set a limit to that. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isObject(value)) return value;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, inOrder(member)]));
}
