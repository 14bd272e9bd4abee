/**
 * The failures of an upstream, as a closed set. Every message names the slug and, where the
 * operator can act, says how; none quotes the upstream, whose words may be hostile or secret.
 */

import { logUnexpected } from "../observability/unexpected.ts";
import { logUpstream } from "../observability/server-log.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import type { Reply } from "../protocol/json-rpc.ts";
import { ownData, ownError } from "../protocol/own-error.ts";
import { failureOfStatus } from "./connection-failure.ts";
import type { AccountNeed } from "./credentials.ts";

export type UpstreamFailure =
  /** No connection, DNS, TLS, or a 5xx: whether the request ran is unknown. */
  | "unreachable"
  | "timeout"
  /** The response is not MCP. */
  | "malformed"
  /** The upstream refused the gateway's credentials. */
  | "unauthorized"
  /** The account of the person who calls cannot be used, or there is none: the request did not run. */
  | "account"
  | "overloaded"
  /** The machine that publishes the server is not connected: the request did not run. */
  | "offline"
  /** The stream broke before the answer and cannot be resumed: the outcome is unknown. */
  | "lost"
  /** The upstream has forgotten the session: the request provably did not run. */
  | "session-lost"
  /** The upstream does not support the era that was needed. */
  | "other-era";

export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
  readonly failure: UpstreamFailure;
  /** The HTTP status, if there was a response: evidence of the transport and the era. */
  readonly status: number | undefined;
  /** What has to happen before the server can be used: with the failure `account`. */
  readonly need: AccountNeed | undefined;
  /** The failure of the connection, in words of our own: for the log only. */
  readonly connection: string | undefined;

  constructor(
    slug: string,
    failure: UpstreamFailure,
    sentence: string,
    evidence: { status?: number; connection?: string | undefined; need?: AccountNeed } = {},
  ) {
    super(`Upstream "${slug}" ${sentence}`);
    this.failure = failure;
    this.status = evidence.status;
    this.connection = evidence.connection;
    this.need = evidence.need;
  }
}

/** Why no response came, for the log; `undefined` when the server did respond. */
export function causeOf({ failure, status, connection }: UpstreamError): string | undefined {
  return connection ?? failureOfStatus(status) ?? (failure === "timeout" ? "timed out" : undefined);
}

/** The failures whose cause is on the way to the server, and not in its response. */
const ON_THE_WAY: ReadonlySet<UpstreamFailure> = new Set(["unreachable", "timeout", "lost"]);

/** Logs for the operator why a server cannot be reached. */
export function logFailure(error: UpstreamError, slug: string): void {
  const { failure: reason, status } = error;
  if (ON_THE_WAY.has(reason)) logUpstream({ server: slug, reason, cause: causeOf(error), status });
}

/** True when the server turned out not to support the era that was needed. */
export function isOtherEra(error: unknown): boolean {
  return error instanceof UpstreamError && error.failure === "other-era";
}

/** @returns what an account needs before the request can run, where that is why it did not. */
export function accountNeedOf(reply: Reply): AccountNeed | undefined {
  // The gateway's own, and so of this shape: no server can write it (`own-error.ts`).
  return ownData(reply).account as AccountNeed | undefined;
}

/** The one place where an upstream's failure becomes an error reply for the client. */
export function failureReply(error: unknown, slug: string): Reply {
  if (error instanceof UpstreamError) {
    logFailure(error, slug);
    const { message, failure: reason, status, need } = error;
    const data = { upstream: slug, reason, ...(status === undefined ? {} : { status }) };
    return ownError(ErrorCode.InternalError, message, data, need && { account: need });
  }
  const reference = logUnexpected(error);
  const message = `The gateway failed on the way to upstream "${slug}" (reference ${reference})`;
  return ownError(ErrorCode.InternalError, message, { upstream: slug });
}
