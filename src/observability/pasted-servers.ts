/** What an operator's paste says of servers, before anything of it is added. Plain data. */

import type { Provenance } from "./added-servers.ts";
import type { JsonObject } from "../protocol/json-rpc.ts";

/** One value that the operator may enter. */
export interface Field {
  /** The NAME of `${NAME}` in the entry. */
  readonly name: string;
  readonly label: string;
  /** It is sealed, and never shown. Any other becomes a part of the entry. */
  readonly isSecret: boolean;
  /** False also where the value was pasted: an empty one keeps that. */
  readonly isRequired: boolean;
  readonly initial?: string;
  readonly choices?: readonly string[];
  readonly description?: string;
}

/** A server that can be added. */
export interface Candidate {
  readonly kind: "candidate";
  readonly slug: string;
  readonly label?: string;
  /** As in `MCP_SERVERS`, with `${NAME}` where the value of a field goes. */
  readonly entry: JsonObject;
  readonly fields: readonly Field[];
  /** Values of secret fields that were pasted. They are to be sealed at once. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Sentences about what was pasted and is not taken over. */
  readonly remarks: readonly string[];
  readonly provenance: Provenance;
}

/** A candidate with the values of its fields. */
export type Filled =
  /** The entry has `${NAME}` for each of the secrets, which are still to be sealed. */
  | { readonly entry: JsonObject; readonly secrets: Readonly<Record<string, string>> }
  /** It quotes no value. */
  | { readonly sentence: string };

/** What cannot be added, and why. */
export interface Left {
  readonly kind: "left";
  readonly name: string;
  readonly sentence: string;
}

export type Pasted =
  | { readonly kind: "read"; readonly items: readonly (Candidate | Left)[] }
  | { readonly kind: "mistake"; readonly sentence: string };
