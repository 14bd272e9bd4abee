/**
 * A resource that nobody lists: the servers that may have it are asked all at once, so that one that
 * stalls holds up nobody. The price is a read at each of them.
 */

import { ErrorCode } from "../../protocol/error-codes.ts";
import {
  type ErrorObject,
  isObject,
  type JsonObject,
  type Reply,
} from "../../protocol/json-rpc.ts";
import type { Era } from "../../protocol/revisions.ts";
import type { Server } from "../../endpoint/server.ts";
import { resourceNotFound } from "./routing-refusals.ts";

/** As 2026-07-28 says it, and as it was said before; and a server without resources. */
const NOT_FOUND: ReadonlySet<number> = new Set([
  ErrorCode.InvalidParams,
  ErrorCode.ResourceNotFound,
  ErrorCode.MethodNotFound,
]);

/** The first in the operator's order is waited for so long, when another has the resource too. */
const HEAD_START_MS = 1000;

interface Search {
  readonly uri: unknown;
  /** Of the client. */
  readonly era: Era;
  /** Aborted when the client cancels. */
  readonly signal: AbortSignal;
  readonly waitUntil: (promise: Promise<unknown>) => void;
  /** Takes what another server had to give: it may wait for more of the client. */
  readonly spare?: (server: Server, result: JsonObject) => Promise<void>;
}

/**
 * @param ask rejects with the reason of its signal alone; that is aborted when another has it.
 * @returns a result; else what the first server had to say that knows the resource.
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
    if (reply === "nobody") found.resolve(resourceNotFound(era, uri));
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
  // Those who are no longer wanted have something to give back.
  waitUntil(Promise.all(asking));
  try {
    decide(); // there may be nobody to ask
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
function decision(asked: readonly Asked[], isInOrder: boolean): Reply | "nobody" | undefined {
  let objection: Reply | undefined;
  let isOpen = false;
  for (const { server, reply } of asked) {
    if (reply === undefined) isOpen = true;
    else if ("result" in reply) return isOpen && isInOrder ? undefined : reply;
    else if (!isAbsence(reply.error, server.slug)) objection ??= reply;
  }
  return isOpen ? undefined : (objection ?? "nobody");
}

/** It does not have the resource, or is not to be had itself. */
function isAbsence({ code, data }: ErrorObject, slug: string): boolean {
  return NOT_FOUND.has(code) || (isObject(data) && data["upstream"] === slug);
}
