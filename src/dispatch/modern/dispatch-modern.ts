/** Routes a modern request at an endpoint to its server, or answers it for all servers. */

import { logUnexpected } from "../../observability/unexpected.ts";
import { Meta, metaOf } from "../../protocol/envelope.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import { forwardingTo, type Peer } from "../../protocol/exchange.ts";
import { errorReply, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { LATEST_MODERN, MODERN_REVISIONS } from "../../protocol/revisions.ts";
import { declaresTasks, lacksTasks } from "../../protocol/tasks-extension.ts";
import { listPage } from "../../catalog/lists/list-page.ts";
import { loggedForAll } from "../guard/logged.ts";
import { clientKind } from "../../endpoint/client-kind.ts";
import { route } from "../../catalog/routing/route.ts";
import { callServer, relayTo } from "./call-server.ts";
import type { ModernContext, ReceivedRequest, RequestContext } from "../../relay/modern-context.ts";
import { listen } from "../../notifications/modern/listen.ts";
import { asksForTasks } from "../../notifications/modern/listen-filter.ts";
import { searchServers } from "./search-servers.ts";
import { serveTask } from "./serve-task.ts";
import { isIntroducedHere } from "../../endpoint/endpoint.ts";
import type { ListKind } from "../../catalog/catalog.ts";
import { listServer } from "../../catalog/lists/list-server.ts";
import { toModern } from "../../protocol/capabilities.ts";
import { completeModernResult } from "../../protocol/modern-result.ts";
import { introduceEndpoint, type Introduction } from "../introduction/introduction.ts";

/** Of `server/discover`: the operator may change the set of servers, and no client is notified. */
const MAX_TTL_MS = 3_600_000;

/** @throws only the reason of `signal`. */
export async function dispatchModern(
  context: ModernContext,
  inbound: ReceivedRequest,
  peer: Peer,
  signal: AbortSignal,
): Promise<Reply> {
  try {
    return await answer(context, inbound, peer, signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const reference = logUnexpected(error);
    return errorReply(ErrorCode.InternalError, `The gateway failed (reference ${reference})`);
  }
}

async function answer(
  context: ModernContext,
  inbound: ReceivedRequest,
  peer: Peer,
  signal: AbortSignal,
): Promise<Reply> {
  const { message, envelope } = inbound;
  const client = clientKind(LATEST_MODERN, envelope.clientCapabilities);
  const requestContext = { context, client, inbound, peer, signal };
  switch (message.method) {
    case "server/discover":
      return isIntroducedHere(context.endpoint)
        ? loggedForAll(context, peer.span, message, () => discoverEndpoint(requestContext))
        : discoverEndpoint(requestContext);
    case "subscriptions/listen":
      return listenLogged(requestContext);
    case "tasks/get":
    case "tasks/update":
    case "tasks/cancel":
      return serveTask(requestContext);
  }
  const routed = await route(context, client, message);
  switch (routed.kind) {
    case "reply":
      return loggedForAll(context, peer.span, message, () => Promise.resolve(routed.reply));
    case "server":
      return callServer(requestContext, routed.server, routed.call);
    case "search":
      return searchServers(requestContext, routed.servers, routed.call);
    case "list": {
      const { list } = routed;
      if (!isIntroducedHere(context.endpoint)) return listForModern(requestContext, list);
      const cursor = message.params?.cursor;
      const search = metaOf(message.params)["edgeway/search"];
      return loggedForAll(context, peer.span, message, () =>
        listPage(context, { client, list, cursor, search }),
      );
    }
    case "all":
      // The modern era has no method that goes to all servers.
      return loggedForAll(context, peer.span, message, () =>
        Promise.resolve(errorReply(ErrorCode.MethodNotFound, "Method not found")),
      );
  }
}

/** Logs the request on its acknowledgement or an earlier end: the stream may stay open for days. */
async function listenLogged({
  context,
  client,
  inbound,
  peer,
  signal,
}: RequestContext): Promise<Reply> {
  const { message } = inbound;
  const { promise: acknowledged, resolve } = Promise.withResolvers<Reply>();
  const acknowledging: Peer = {
    ...forwardingTo(peer),
    notify: async (notice) => {
      await peer.notify(notice);
      // The first notification is the acknowledgement.
      resolve({ result: {} });
    },
  };
  // No client gets notifications of tasks: servers may omit them from the acknowledgement, and a feed,
  // which all listeners share, cannot request those of one client. Clients can poll.
  const lacksThem =
    asksForTasks(message.params) && !declaresTasks(inbound.envelope.clientCapabilities);
  const listening = lacksThem
    ? Promise.resolve(lacksTasks())
    : listen(context, client, message, acknowledging, signal);
  await loggedForAll(context, peer.span, message, () => Promise.race([acknowledged, listening]));
  return listening;
}

/** Lists the items of an endpoint's only server, with the cache scope for a modern client. */
async function listForModern(requestContext: RequestContext, list: ListKind): Promise<Reply> {
  const { context, inbound } = requestContext;
  const [server] = context.endpoint.servers;
  const { message } = inbound;
  const reply = await listServer(context, list, message, (call) =>
    relayTo(requestContext, server, call),
  );
  if ("error" in reply) return reply;
  const { result } = reply;
  // A cursor belongs to one client, and all pages of a list have the same cache scope (caching: MUST).
  const isPaged = message.params?.cursor !== undefined || result.nextCursor !== undefined;
  return isPaged ? { result: { ...result, cacheScope: "private" } } : reply;
}

/** `server/discover`: one server answers itself; several are introduced as one. */
async function discoverEndpoint(requestContext: RequestContext): Promise<Reply> {
  const { context, client, inbound } = requestContext;
  const { servers } = context.endpoint;
  if (!isIntroducedHere(context.endpoint))
    return relayTo(requestContext, servers[0], inbound.message);
  const result = discovery(await introduceEndpoint(context, client));
  return { result: completeModernResult("server/discover", result) ?? result };
}

function discovery({ capabilities, serverInfo, instructions, freshMs }: Introduction): JsonObject {
  return {
    supportedVersions: MODERN_REVISIONS,
    capabilities: toModern(capabilities),
    ...(instructions === undefined ? {} : { instructions }),
    ttlMs: Math.max(0, Math.min(Math.floor(freshMs), MAX_TTL_MS)),
    cacheScope: "private",
    _meta: { [Meta.serverInfo]: serverInfo },
  };
}
