/**
 * Errors that the gateway makes in the place of a server, and that it reads again itself on the way
 * down. A server may send the same `data`, so a mark beside the error distinguishes them: it crosses
 * between objects as plain data, a server's message cannot carry it, and no client receives it.
 */

import { errorReply, type JsonObject, type Reply } from "./json-rpc.ts";

/** The members that the gateway reads again. */
interface OwnData extends JsonObject {
  readonly reason?: unknown;
  /** The HTTP status of the server, if it gave one. */
  readonly status?: unknown;
  /** Seconds. */
  readonly retryAfter?: unknown;
  /** What an account at the server needs: for the gateway alone. */
  readonly account?: unknown;
}

const NOTHING: OwnData = {};

/**
 * @param data for the client, and for `ownData`.
 * @param hidden for `ownData` alone.
 */
export function ownError(
  code: number,
  message: string,
  data: JsonObject,
  hidden: OwnData = NOTHING,
): Reply {
  return { ...errorReply(code, message, data), own: { ...data, ...hidden } };
}

/** @returns an empty object for an error of a server, whatever its data. */
export function ownData(reply: Reply): OwnData {
  return ("error" in reply && reply.own) || NOTHING;
}
