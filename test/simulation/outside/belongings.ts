/** What a client has that is of use to it alone: somebody else's intruder tries it (`intruder.ts`). */

import type { Json } from "./actor.ts";

export type Belonging = { readonly client: string } & (
  | { readonly kind: "session"; readonly id: string; readonly revision: string }
  /** Where it takes up a stream of a session. */
  | {
      readonly kind: "place";
      readonly id: string;
      readonly revision: string;
      readonly lastEventId: string;
    }
  /** A request that is running, or a question that is open. */
  | { readonly kind: "request" | "question"; readonly id: unknown }
  /** The next round of a call of 2026-07-28. */
  | { readonly kind: "round"; readonly params: Json }
  /** The address of a session over HTTP+SSE. */
  | { readonly kind: "address"; readonly path: string }
);
