/**
 * Finds a resource that no server lists: all servers that may have it are asked at once, so that a
 * stalled one does not delay the others. The price is a read at each of them.
 */

import { ErrorCode } from "../../protocol/error-codes.ts";
import { dataOf, type ErrorObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import type { Era } from "../../protocol/revisions.ts";
import type { Server } from "../../endpoint/server.ts";
import { resourceNotFound } from "./routing-refusals.ts";

/** The codes of 2026-07-28, of earlier revisions, and of a server without resources. */
const NOT_FOUND: ReadonlySet<number> = new Set([
  ErrorCode.InvalidParams,
  ErrorCode.ResourceNotFound,
  ErrorCode.MethodNotFound,
]);

/** The wait for servers earlier in the operator's order when a later one has the resource. */
const HEAD_START_MS = 1000;

interface Search {
  readonly uri: unknown;
  /** The client's era. */
  readonly era: Era;
  /** Aborted when the client cancels. */
  readonly signal: AbortSignal;
  readonly waitUntil: (promise: Promise<unknown>) => void;
  /** Takes the unused result of another server: it may wait for more input of the client. */
  readonly spare?: (server: Server, result: JsonObject) => Promise<void>;
}

/**
 * @param ask rejects only with the reason of its signal, which aborts when another server has it.
 * @returns a result; else the error of the first server that knows the resource.
 * @throws the reason of the search's signal.
 */
export async function firstFound(
  servers: readonly Server[],
  ask: (server: Server, signal: AbortSignal) => Promise<Reply>,
  { uri, era, signal, waitUntil, spare }: Search,
): Promise<Reply> {
  const found = Promise.withResolvers<Reply>();
  const asked: Asked[] = servers.map((server) => ({ server, cancel: new AbortController() }));
  let isInOrder = true;
  let taken: Reply | undefined;
  const decide = (): void => {
    const reply = decision(asked, isInOrder);
    if (reply === "unknown") found.resolve(resourceNotFound(era, uri));
    else if (reply !== undefined) found.resolve(reply);
  };
  const headStart = setTimeout(() => {
    isInOrder = false;
    decide();
  }, HEAD_START_MS);
  const asking = asked.map(async (one) => {
    try {
      one.reply = await ask(one.server, AbortSignal.any([signal, one.cancel.signal]));
      decide();
    } catch (error) {
      found.reject(error);
    }
  });
  // Cancelled requests still have something to release.
  waitUntil(Promise.all(asking));
  try {
    decide(); // there may be no server to ask
    taken = await found.promise;
    return taken;
  } finally {
    clearTimeout(headStart);
    for (const { server, reply, cancel } of asked) {
      if (reply === undefined) cancel.abort(new Error("Another server has the resource"));
      else if ("result" in reply && reply !== taken && spare !== undefined) {
        waitUntil(spare(server, reply.result));
      }
    }
  }
}

interface Asked {
  readonly server: Server;
  readonly cancel: AbortController;
  reply?: Reply;
}

/** @returns `undefined` while it is open. */
function decision(asked: readonly Asked[], isInOrder: boolean): Reply | "unknown" | undefined {
  let objection: Reply | undefined;
  let isOpen = false;
  for (const { server, reply } of asked) {
    if (reply === undefined) isOpen = true;
    else if ("result" in reply) return isOpen && isInOrder ? undefined : reply;
    else if (!isAbsence(reply.error, server.slug)) objection ??= reply;
  }
  return isOpen ? undefined : (objection ?? "unknown");
}

/** The server does not have the resource, or is unavailable itself. */
function isAbsence(error: ErrorObject, slug: string): boolean {
  return NOT_FOUND.has(error.code) || dataOf(error).upstream === slug;
}
