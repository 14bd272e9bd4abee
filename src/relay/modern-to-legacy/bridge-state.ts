/**
 * The requestState of a parked call, which the client sends back with its answers: the call, the round,
 * and a digest of the request. It is sealed for its principal on the way through the client. The
 * holder of the call knows when it expires: a call may run on for long after it took the answers.
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
      /** The round that is answered, from 1 on. */
      readonly round: number;
      readonly digest: string;
    }
  /** There is no call to continue: the request is made again, from its beginning. */
  | {
      readonly kind: "again";
      /** The number of pages to visit; their keys are `r1` and on. */
      readonly pages: number;
      readonly digest: string;
    };

/** Distinguishes the states written here from those of servers. */
const MARK = "edgeway:";
/** Pages that one request may be sent to. */
export const MAX_PAGES = 32;

/** True for a text that `readBridgeState` would take for a state written here. */
export function isBridgeState(text: unknown): text is string {
  return typeof text === "string" && text.startsWith(MARK);
}

export function writeState(state: BridgeState): string {
  if (state.kind === "again") return MARK + JSON.stringify({ n: state.pages, d: state.digest });
  const { object: o, exchange: x, round: r, digest: d } = state;
  return MARK + JSON.stringify({ o, x, r, d });
}

/** @returns `undefined` for a state that was not written here. */
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
 * The digest by which a retry is known to be of the same request. The members that differ in each
 * request (`_meta`, `inputResponses`, `requestState`) do not count, nor does the order of the others.
 */
export async function digestOf({ method, params = {} }: Call): Promise<string> {
  const { _meta: _, inputResponses: __, requestState: ___, ...rest } = params;
  const text = JSON.stringify([method, inOrder(rest)]);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return toBase64Url(new Uint8Array(digest));
}

/** Sorts members at every depth, which the reader of the request body has limited. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isObject(value)) return value;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, inOrder(member)]));
}
