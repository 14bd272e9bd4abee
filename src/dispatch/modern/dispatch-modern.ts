/** Routes a modern request at an endpoint to its server, or answers it for all servers. */

import { logUnexpected } from "../../observability/unexpected.ts";
import { metaOf } from "../../protocol/envelope.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Peer } from "../../protocol/exchange.ts";
import { errorReply, type Reply } from "../../protocol/json-rpc.ts";
import { LATEST_MODERN } from "../../protocol/revisions.ts";
import { declaresTasks, lacksTasks } from "../../protocol/tasks-extension.ts";
import { listPage } from "../../catalog/lists/list-page.ts";
import { loggedForAll } from "../guard/logged.ts";
import { clientKind } from "../../endpoint/client-kind.ts";
import { route } from "../../catalog/routing/route.ts";
import { callServer } from "./call-server.ts";
import { discoverEndpoint } from "./discover-endpoint.ts";
import type { ModernContext, RequestContext } from "../../relay/modern-context.ts";
import type { ReceivedRequest } from "../../relay/modern-to-modern/inbound-modern.ts";
import { listen } from "../../notifications/modern/listen.ts";
import { asksForTasks } from "../../notifications/modern/listen-filter.ts";
import { listForModern } from "./list-for-modern.ts";
import { searchServers } from "./search-servers.ts";
import { serveTask } from "./serve-task.ts";

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
      return context.endpoint.isMerged
        ? loggedForAll(context.principal, message, () => discoverEndpoint(requestContext))
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
      return loggedForAll(context.principal, message, () => Promise.resolve(routed.reply));
    case "server":
      return callServer(requestContext, routed.server, routed.call);
    case "search":
      return searchServers(requestContext, routed.servers, routed.call);
    case "list": {
      const { list } = routed;
      if (!context.endpoint.isMerged) return listForModern(requestContext, list);
      const cursor = message.params?.cursor;
      const search = metaOf(message.params)["edgeway/search"];
      return loggedForAll(context.principal, message, () =>
        listPage(context, { client, list, cursor, search }),
      );
    }
    case "all":
      // The modern era has no method that goes to all servers.
      return loggedForAll(context.principal, message, () =>
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
  const heard: Peer = {
    ...peer,
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
    : listen(context, client, message, heard, signal);
  await loggedForAll(context.principal, message, () => Promise.race([acknowledged, listening]));
  return listening;
}
