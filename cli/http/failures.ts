/** What can go wrong on the way to the gateway, by what it means for the request. */

import { isObject } from "../../src/protocol/json-rpc.ts";

/** The request did not arrive, so that it may be sent again. */
export class NotReached extends Error {
  override readonly name = "NotReached";
  /** The last reason alone, where the message says more. */
  readonly reason: string;

  constructor(message: string, reason = message) {
    super(message);
    this.reason = reason;
  }
}

/** The connection broke after the request was sent: whether it ran is unknown. */
export class Broken extends Error {
  override readonly name = "Broken";
}

/** A person has to do something first; the message says what, with the address or the variable. */
export class LoginNeeded extends Error {
  override readonly name = "LoginNeeded";
  /** Nothing that this process waits for would help. */
  readonly isHopeless: boolean;

  constructor(message: string, prospect?: "hopeless") {
    super(message);
    this.isHopeless = prospect === "hopeless";
  }
}

/** Codes of Node and of its fetch for a connection that was never made. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENETDOWN",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
  "ERR_SOCKET_CONNECTION_TIMEOUT",
]);

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** It is judged before anything is sent. */
export const BAD_CERTIFICATE = /^(?:ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/;

/**
 * @param error of `fetch`, which has the reason as its cause.
 * @param when it came; what was sent cannot be unsent.
 */
export function failureOf(error: unknown, when?: "sent"): NotReached | Broken {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const { code, syscall } = isObject(cause) ? cause : {};
  const reason = typeof code === "string" ? code : String(cause);
  const isNever =
    // Of all addresses of a name, one after the other: it has a code of theirs, and no call of the system.
    cause instanceof AggregateError ||
    NEVER_CONNECTED.has(code) ||
    syscall === "connect" ||
    BAD_CERTIFICATE.test(reason);
  return isNever && when === undefined ? new NotReached(reason) : new Broken(reason);
}
