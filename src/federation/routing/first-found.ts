/** A resource that nobody lists: the servers that may have it are asked, one after the other. */

import { ErrorCode } from "../../protocol/error-codes.ts";
import { type ErrorObject, isObject, type Reply } from "../../protocol/json-rpc.ts";
import type { Era } from "../../protocol/revisions.ts";
import type { Server } from "../server.ts";
import { resourceNotFound } from "./refusals.ts";

/** As 2026-07-28 says it, and as it was said before; and a server without resources. */
const NOT_FOUND: ReadonlySet<number> = new Set([
  ErrorCode.InvalidParams,
  ErrorCode.ResourceNotFound,
  ErrorCode.MethodNotFound,
]);

/**
 * @param era of the client.
 * @returns the first result; else what a server had to say that knows the resource.
 */
export async function firstFound(
  servers: readonly Server[],
  uri: unknown,
  era: Era,
  ask: (server: Server) => Promise<Reply>,
): Promise<Reply> {
  let objection: ErrorObject | undefined;
  for (const server of servers) {
    const reply = await ask(server);
    if ("result" in reply) return reply;
    if (!isAbsence(reply.error, server.slug)) objection ??= reply.error;
  }
  return objection === undefined ? resourceNotFound(era, uri) : { error: objection };
}

/** It does not have the resource, or is not to be had itself. */
function isAbsence({ code, data }: ErrorObject, slug: string): boolean {
  return NOT_FOUND.has(code) || (isObject(data) && data["upstream"] === slug);
}
