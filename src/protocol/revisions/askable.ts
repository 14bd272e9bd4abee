/** A server's question translated for a client, or the reason why the client cannot be asked. */

import type { Call } from "../exchange.ts";

export type Askable =
  | { readonly kind: "ask"; readonly call: Call }
  /** `lacking` is a phrase for a sentence: "elicitation of several choices". */
  | { readonly kind: "unsupported"; readonly lacking: string };

export function asks(call: Call): Askable {
  return { kind: "ask", call };
}

/** @param lacking in the gateway's own words: text from a server is never quoted. */
export function lacks(lacking: string): Askable {
  return { kind: "unsupported", lacking };
}
