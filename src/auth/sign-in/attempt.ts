/**
 * An attempt to sign in, as the Worker has it in hand: somebody on the way to an application, or to
 * the gateway's own pages.
 */

import type { AuthRequest } from "@cloudflare/workers-oauth-provider";

import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { Stage } from "../store/attempts.ts";
import type { AskingClient } from "./asking-client.ts";
import type { Ending } from "./ending.ts";

interface Common {
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** A session from before the attempt does not do. */
  readonly needsLogin: boolean;
  /** Where the browser was sent to, and what is needed when it comes back. */
  readonly departure?: { readonly provider: string; readonly memory: JsonObject };
}

/** An application wants to act for somebody. */
export interface AuthorizeContent extends Common {
  readonly kind: "authorize";
  readonly request: AuthRequest & { readonly resource: string };
  readonly client: AskingClient;
  /** What the page offers. */
  readonly scopes: readonly string[];
  /** The user whom the page names; a session of somebody else does not do. */
  readonly shownTo?: string;
  /** What was approved of it; absent before. */
  readonly approved?: readonly string[];
}

/** Somebody comes to the gateway's own pages. */
export interface VisitContent extends Common {
  readonly kind: "visit";
  /** A path of ours. */
  readonly to: string;
}

export type Content = AuthorizeContent | VisitContent;

export interface Attempt {
  readonly handle: string;
  /** Of its record; opens nothing. */
  readonly id: string;
  readonly stage: Stage;
  readonly content: Content;
}

/** What joins the steps of an attempt for the login doctor. */
export function marksOf({ id, content }: Pick<Attempt, "id" | "content">) {
  return { attempt: id, ...(content.kind === "authorize" && { client: content.client.id }) };
}

/** What taking a step led to. */
export interface Settled {
  readonly ending: Ending;
  /** What the attempt waits for from now on; absent when it is over. */
  readonly next?: { readonly stage: Stage; readonly content: Content };
  /** Nobody is answered the same again, however soon. */
  readonly isOnce?: true;
}
