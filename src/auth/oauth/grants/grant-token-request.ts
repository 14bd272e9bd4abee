/** One token request about a grant, and the context in which it is answered. */

import type { TokenReason } from "../../trace/token-reasons.ts";
import type { AuditLog } from "../../store/audit-log.ts";
import type { KvRows } from "../../store/kv-rows.ts";
import { type GrantState, grantState } from "./grant-state.ts";
import type { Grants } from "./grants.ts";
import type { TokenForm, TokenSubject } from "./token-form.ts";

export interface GrantTokenRequest extends TokenSubject {
  readonly request: Request;
  readonly form: TokenForm;
  /** The hash of the code or token in the request. */
  readonly hash: string;
}

export interface GrantTokenContext {
  readonly rows: KvRows;
  readonly grants: Grants;
  readonly audit: AuditLog;
  /** The library's token endpoint, on the rows of this object. */
  readonly answer: (request: Request) => Promise<Response>;
  /** The same, for an additional access token: no refresh token of the grant is replaced. */
  readonly answerBeside: (request: Request) => Promise<Response>;
  /** Whether the user of a grant may be served under the current configuration. */
  readonly isServed: (grant: TokenSubject) => Promise<boolean>;
  /** @returns why the user may have no token for the grant, if the judge found that just now. */
  readonly judgedOf: (grant: string) => TokenReason | undefined;
  /** Called for every application that got a token, so that its registration is kept. */
  readonly onIssued: (clientId: string) => Promise<void>;
  /** Closes the streams that are open for these grants. */
  readonly onEnded: (grants: readonly string[]) => void;
  /** The time for which the same refresh gets the same answer again. */
  readonly replayMs: number;
  /** The number of grants that an application may have for one resource of one user. */
  readonly keptGrants: number;
}

/** The key of the grant's row. */
export function rowOf({ user, grant }: TokenSubject): string {
  return `grant:${user}:${grant}`;
}

/** @returns `undefined` when the grant does not exist at this moment. */
export function stateOf(
  { rows }: GrantTokenContext,
  { user, grant }: TokenSubject,
): GrantState | undefined {
  return grantState(rows, user, grant);
}

/** Ends a grant, all tokens that were issued under it, and the streams that are open for it. */
export function endGrant(
  { grants, onEnded }: GrantTokenContext,
  { user, grant }: TokenSubject,
): void {
  grants.revoke(user, grant);
  onEnded([grant]);
}

/** The token is issued: no failure from here on may keep it from its client. */
export async function tellIssued(
  { onIssued }: GrantTokenContext,
  { form }: GrantTokenRequest,
): Promise<void> {
  try {
    await onIssued(form.clientId);
  } catch {
    // The next token extends the registration.
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
