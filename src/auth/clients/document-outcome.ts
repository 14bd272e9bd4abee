/** The outcome of a look-up of a client whose id is a URL. */

import type { LoadFailure } from "../../lib/egress.ts";
import type { ClientRecord, DocumentProblem } from "./client-document.ts";

/** For the log and the operator; a person who is not signed in gets the sentence. */
export type DocumentRefusal = "bad-url" | "not-accepted" | LoadFailure | DocumentProblem;

export type DocumentOutcome =
  | {
      readonly kind: "client";
      readonly client: ClientRecord;
      readonly digest: string;
      /** The host that vouches for the client, to be shown to the person who approves it. */
      readonly host: string;
      /** The document could not be loaded anew, and an earlier one stands in. */
      readonly isStale: boolean;
    }
  | { readonly kind: "refused"; readonly reason: DocumentRefusal; readonly sentence: string }
  /** Too many loads in a short time. */
  | { readonly kind: "busy"; readonly retryAfterSeconds: number };

/** The client may learn what is wrong with an id, but not how an address answered. */
const SENTENCES: Readonly<Partial<Record<DocumentRefusal, string>>> = {
  "bad-url": "The client id is not the address of a metadata document.",
  "not-accepted": "Clients of this host are not accepted here.",
};
const NOT_LOADED = "The metadata document of the client could not be loaded.";

export function asClient(client: ClientRecord, digest: string, isStale = false): DocumentOutcome {
  return { kind: "client", client, digest, host: new URL(client.clientId).hostname, isStale };
}

export function documentRefused(reason: DocumentRefusal): DocumentOutcome {
  return { kind: "refused", reason, sentence: SENTENCES[reason] ?? NOT_LOADED };
}
