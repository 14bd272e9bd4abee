/** One request at the token desk that is about a grant, and what the desk has at hand for it. */

import type { TokenReason } from "../../trace/token-reasons.ts";
import type { AuditLog } from "../../store/audit-log.ts";
import type { KvRows } from "../../store/kv-rows.ts";
import { type GrantState, grantState } from "./grant-state.ts";
import type { Grants } from "./grants.ts";
import type { TokenForm, TokenSubject } from "./token-form.ts";

export interface GrantTokenRequest extends TokenSubject {
  readonly request: Request;
  readonly form: TokenForm;
  /** The hash of the code or token that it brings. */
  readonly hash: string;
}

export interface GrantTokenContext {
  readonly rows: KvRows;
  readonly grants: Grants;
  readonly audit: AuditLog;
  /** The library, on the rows of this object. */
  readonly answer: (request: Request) => Promise<Response>;
  /** The same, for an access token beside the others: no refresh token of the grant is replaced. */
  readonly answerBeside: (request: Request) => Promise<Response>;
  /** Whether the user of a grant may be served today. */
  readonly isServed: (grant: TokenSubject) => Promise<boolean>;
  /** @returns why the user may have no token for the grant, if that was found out just now. */
  readonly judgedOf: (grant: string) => TokenReason | undefined;
  /** Told of every application that got a token, so that its registration is kept. */
  readonly onIssued: (clientId: string) => Promise<void>;
  /** Tells whoever holds streams open for it. */
  readonly onEnded: (grants: readonly string[]) => void;
  /** How long the answer to a refresh is given again to who asks the same. */
  readonly replayMs: number;
  /** How many grants an application may have for one resource of one user. */
  readonly keptGrants: number;
}

/** The key of the grant's row. */
export function rowOf({ user, grant }: TokenSubject): string {
  return `grant:${user}:${grant}`;
}

/** @returns `undefined` when there is no such grant at this moment. */
export function stateOf(
  { rows }: GrantTokenContext,
  { user, grant }: TokenSubject,
): GrantState | undefined {
  return grantState(rows, user, grant);
}

/** Ends a grant, all that was issued under it, and the streams that are open for it. */
export function endGrant(
  { grants, onEnded }: GrantTokenContext,
  { user, grant }: TokenSubject,
): void {
  grants.revoke(user, grant);
  onEnded([grant]);
}

/** The token is out: nothing that fails now may keep it from who it is for. */
export async function tellIssued(
  { onIssued }: GrantTokenContext,
  { form }: GrantTokenRequest,
): Promise<void> {
  try {
    await onIssued(form.clientId);
  } catch {
    // The next token is soon enough.
  }
}

/** @returns the error code of an answer that refuses (RFC 6749 section 5.2). */
export async function errorOf(response: Response): Promise<unknown> {
  try {
    return (await response.clone().json<{ error?: unknown }>()).error;
  } catch {
    return undefined;
  }
}
