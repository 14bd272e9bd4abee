/**
 * How an upstream can fail, as a closed set. Every message names the slug and says what to do;
 * none quotes what the upstream sent, which may be hostile or secret.
 */

import { logUnexpected } from "../observability/unexpected.ts";
import { logUpstream } from "../observability/upstream-log.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import type { Reply } from "../protocol/json-rpc.ts";
import { ownError } from "../protocol/own-error.ts";
import { failureOfStatus } from "./connection-failure.ts";

export type UpstreamFailure =
  /** No connection, DNS, TLS, or a 5xx: nothing is known of the request. */
  | "unreachable"
  | "timeout"
  /** It answered something that is not MCP. */
  | "malformed"
  /** It refused our credentials. */
  | "unauthorized"
  | "overloaded"
  /** The stream broke before the answer and cannot be resumed: the outcome is unknown. */
  | "lost"
  /** It no longer knows our session: the request provably did not run. */
  | "session-lost"
  /** It does not speak the era that was needed. */
  | "other-era";

export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
  readonly failure: UpstreamFailure;
  /** The HTTP status, where one came: evidence of the transport and the era. */
  readonly status: number | undefined;
  /** What became of the connection, in words of our own: for the log, and for no client. */
  readonly connection: string | undefined;

  constructor(
    slug: string,
    failure: UpstreamFailure,
    sentence: string,
    evidence: { cause?: unknown; status?: number; connection?: string } = {},
  ) {
    super(`Upstream "${slug}" ${sentence}`, { cause: evidence.cause });
    this.failure = failure;
    this.status = evidence.status;
    this.connection = evidence.connection;
  }
}

/** The failures that an operator looks for on the way to the server, and not in what it said. */
const ON_THE_WAY: ReadonlySet<UpstreamFailure> = new Set(["unreachable", "timeout", "lost"]);

/** Tells the operator why a server cannot be reached. */
export function logFailure({ failure, status, connection }: UpstreamError, slug: string): void {
  if (!ON_THE_WAY.has(failure)) return;
  const cause =
    connection ?? failureOfStatus(status) ?? (failure === "timeout" ? "timed out" : undefined);
  logUpstream({ server: slug, reason: failure, cause, status });
}

/** Whether the server turned out not to speak the era that was needed. */
export function isOtherEra(error: unknown): boolean {
  return error instanceof UpstreamError && error.failure === "other-era";
}

/** The one place where an upstream's failure becomes what a client reads. */
export function failureReply(error: unknown, slug: string): Reply {
  if (error instanceof UpstreamError) {
    logFailure(error, slug);
    return ownError(ErrorCode.InternalError, error.message, {
      upstream: slug,
      reason: error.failure,
      ...(error.status === undefined ? {} : { status: error.status }),
    });
  }
  const reference = logUnexpected(error);
  const message = `The gateway failed on the way to upstream "${slug}" (reference ${reference})`;
  return ownError(ErrorCode.InternalError, message, { upstream: slug });
}
