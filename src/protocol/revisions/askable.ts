/** A server's question translated for a client, or the reason why the client cannot be asked. */

import type { Call } from "../exchange.ts";

export type Askable =
  | { readonly kind: "ask"; readonly call: Call }
  /** What the client lacks, as it can stand in a sentence: "elicitation of several choices". */
  | { readonly kind: "unsupported"; readonly lacking: string };

export function asks(call: Call): Askable {
  return { kind: "ask", call };
}

/** @param lacking in our own words: what a server sends is quoted to nobody. */
export function lacks(lacking: string): Askable {
  return { kind: "unsupported", lacking };
}
