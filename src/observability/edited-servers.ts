/** What of an added server can be changed, and what a change comes to. Plain data, without the value of a secret that is kept. */

import type { JsonObject } from "../protocol/json-rpc.ts";

/** How a server knows its callers, as far as a form offers it. */
export type EditedAuth = "headers" | "oauth" | "oauth-shared" | "key";

export interface Editable {
  readonly url: string;
  /** Those without a secret, as they are sent. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly secrets: readonly ShownSecret[];
  /** Absent where the gateway has an account of its own, which no form describes. */
  readonly auth: EditedAuth | undefined;
  /** The keys of the entry that stay as they are. */
  readonly others: readonly string[];
}

/** A secret that is set. */
export interface ShownSecret {
  readonly name: string;
  /** Where it is sent, with `${NAME}` in its place. */
  readonly uses: readonly string[];
  /** Its value may have several lines. */
  readonly isLong: boolean;
}

/** As an operator has filled in the form. */
export interface ServerEdit {
  readonly label: string;
  readonly url: string;
  /** By name; an empty value takes the header out, an absent one leaves it. */
  readonly headers: Readonly<Record<string, string>>;
  /** By name; a secret that is not here is kept. */
  readonly secrets: Readonly<Record<string, SecretEdit>>;
  readonly newHeader?: {
    readonly name: string;
    readonly value: string;
    readonly isSecret: boolean;
  };
  readonly auth?: EditedAuth;
}

export type SecretEdit =
  | { readonly kind: "replaced"; readonly value: string }
  /** With each header that has it. */
  | { readonly kind: "removed" };

/** One difference, as it is shown before it is kept. */
export interface Difference {
  readonly what: string;
  readonly before: string;
  readonly after: string;
}

export type Edited =
  | {
      readonly kind: "edited";
      readonly label: string | undefined;
      readonly entry: JsonObject;
      /** All that the entry needs, the kept ones, too. They are to be sealed at once. */
      readonly secrets: Readonly<Record<string, string>>;
      readonly differences: readonly Difference[];
      /** `same`: it is reached as before. `moved`: at another origin. */
      readonly reach: "same" | "changed" | "moved";
    }
  | { readonly kind: "mistakes"; readonly sentences: readonly string[] };
