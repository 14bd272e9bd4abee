/**
 * Errors that the gateway makes in the place of a server, and that it reads again itself on the way
 * down. A server may send the same `data`, so they are told by a mark beside the error: it crosses
 * between objects as plain data, a server's message has no place for it, and no client is sent it.
 */

import { errorReply, type JsonObject, type Reply } from "./json-rpc.ts";

const NOTHING: JsonObject = {};

/** @param data what the client is shown, and `ownData` gives back. */
export function ownError(code: number, message: string, data: JsonObject): Reply {
  return { ...errorReply(code, message, data), own: data };
}

/** @returns nothing for what a server has said, whatever it looks like. */
export function ownData(reply: Reply): JsonObject {
  return ("error" in reply && reply.own) || NOTHING;
}
