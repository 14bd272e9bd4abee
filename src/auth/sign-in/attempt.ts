/**
 * An attempt to sign in, as the Worker handles it: a person on the way to an application, or to the
 * gateway's own pages.
 */

import type { AuthRequest } from "@cloudflare/workers-oauth-provider";

import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { Stage } from "../store/attempts.ts";
import type { AskingClient } from "./asking-client.ts";
import type { Ending } from "./ending.ts";

interface Common {
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** A session from before the attempt is not enough. */
  readonly needsLogin: boolean;
  /**
   * The provider to which the browser was redirected, and the data that is needed when it returns.
   */
  readonly departure?: { readonly provider: string; readonly memory: JsonObject };
}

/** An application requests access for a user. */
export interface AuthorizeContent extends Common {
  readonly kind: "authorize";
  readonly request: AuthRequest & { readonly resource: string };
  readonly client: AskingClient;
  /** The scopes that the page offers. */
  readonly scopes: readonly string[];
  /** The user whom the page names; a session of another user is not enough. */
  readonly shownTo?: string;
  /** The approved scopes; absent before the approval. */
  readonly approved?: readonly string[];
}

/** A person opens the gateway's own pages. */
export interface VisitContent extends Common {
  readonly kind: "visit";
  /** A path of this gateway. */
  readonly to: string;
}

export type Content = AuthorizeContent | VisitContent;

export interface Attempt {
  readonly handle: string;
  /** The id of the record; it opens nothing. */
  readonly id: string;
  readonly stage: Stage;
  readonly content: Content;
}

/** @returns the marks by which the login doctor joins the steps of an attempt. */
export function marksOf({ id, content }: Pick<Attempt, "id" | "content">) {
  return { attempt: id, ...(content.kind === "authorize" && { client: content.client.id }) };
}

/** The result of a step. */
export interface Settled {
  readonly ending: Ending;
  /** The next stage of the attempt; absent when it is over. */
  readonly next?: { readonly stage: Stage; readonly content: Content };
  /** The answer is not repeated, however soon the request comes again. */
  readonly isOnce?: true;
}
