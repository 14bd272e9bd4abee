/** Answers a request in a session: relays it to its server, or answers it for all servers. */

import { hashOf } from "../../lib/random.ts";
import { settleWithin } from "../../lib/time-out.ts";
import type { RequestScope } from "../../catalog/request-scope.ts";
import { attributed, attributedElicitations } from "../../endpoint/attribution.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import type { Server } from "../../endpoint/server.ts";
import type { EndpointSubscriptions } from "../../notifications/legacy/endpoint-subscriptions.ts";
import { type Call, forked, type Peer } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import { metaOf } from "../../protocol/envelope.ts";
import { isLogLevel, noSuchLevel } from "../../protocol/log-levels.ts";
import { serverResumeToken } from "../../relay/server-resume-token.ts";
import { connectUrl } from "../../accounts/addresses.ts";
import { labelOf } from "../../accounts/settings.ts";
import type { AccountNeed } from "../../upstream/credentials.ts";
import { vaultOfKey } from "../../upstream/server-key.ts";
import { accountNeedOf } from "../../upstream/upstream-error.ts";
import {
  connectElicitation,
  type NeedAnswer,
  needOf,
  refusal,
  takesConnectElicitation,
} from "../accounts/connect-answer.ts";
import { answerConnectTool } from "../accounts/connect-tool.ts";
import { guarded } from "../guard/guarded.ts";
import { logged, loggedForAll } from "../guard/logged.ts";
import type { Announcer } from "../../catalog/cache/catalogs.ts";
import { asLegacyList, listPage } from "../../catalog/lists/list-page.ts";
import { isIntroducedHere } from "../../endpoint/endpoint.ts";
import type { ListKind } from "../../catalog/catalog.ts";
import { firstFound } from "../../catalog/routing/first-found.ts";
import { listServer } from "../../catalog/lists/list-server.ts";
import { route } from "../../catalog/routing/route.ts";
import { goneReply, type ServerSessions } from "./server-sessions.ts";

const SEARCH = "edgeway/search";

/** The objects that the parts of a session's dispatch share. */
export interface SessionContext {
  readonly requestScope: RequestScope;
  readonly client: ClientKind;
  readonly servers: ServerSessions;
  readonly subscriptions: EndpointSubscriptions;
  /** Keeps the client's log level for servers that are called later. */
  readonly setLogLevel: (level: string) => void;
}

/** The client that waits for the reply. */
interface Caller {
  readonly peer: Peer;
  /** Aborted when the client cancels. */
  readonly signal: AbortSignal;
}

export async function answerRequest(
  context: SessionContext,
  call: Call,
  caller: Caller,
): Promise<Reply> {
  const { requestScope, client, subscriptions } = context;
  const { waitUntil } = requestScope;
  const { span } = caller.peer;
  // Also for a resource that no server has any more.
  if (call.method === "resources/unsubscribe") {
    return loggedForAll(requestScope, span, call, () =>
      Promise.resolve(subscriptions.unsubscribe(call.params)),
    );
  }
  const routed = await route(requestScope, client, call);
  caller.signal.throwIfAborted();
  switch (routed.kind) {
    case "reply":
      return loggedForAll(requestScope, span, call, () => Promise.resolve(routed.reply));
    case "list":
      return answerList(context, routed.list, call, caller);
    case "search":
      return firstFound(
        routed.servers,
        (server, signal) =>
          callServer(context, server, routed.call, { peer: forked(caller.peer), signal }),
        { uri: routed.call.params?.uri, era: "legacy", signal: caller.signal, waitUntil },
      );
    case "all":
      return loggedForAll(requestScope, span, call, () => setLogLevel(context, call));
    case "server": {
      const { server } = routed;
      if (call.method === "resources/subscribe") {
        return logged(requestScope, { span, server: server.slug, call }, async () => ({
          reply: await subscriptions.subscribe(server, call.params),
        }));
      }
      return callServer(context, server, routed.call, caller);
    }
  }
}

/** Sends a request to one server, through the guard. @param call in the server's own names. */
async function callServer(
  context: SessionContext,
  server: Server,
  call: Call,
  { peer, signal }: Caller,
): Promise<Reply> {
  const { requestScope, client, servers, subscriptions } = context;
  const { slug } = server;
  const connected = await answerConnectTool(requestScope, server, client, call, peer.span);
  if (connected !== undefined) return connected;
  const { isMerged } = requestScope.endpoint;
  // The only server of an endpoint is found without a token.
  if (isMerged) peer.routed?.(serverResumeToken(slug));
  const request = { server, call, client, span: peer.span };
  const reply = await guarded(requestScope, request, async () => {
    if (call.method === "tools/call") await subscriptions.called(server);
    // An operator may have changed the server meanwhile, or taken it away.
    const now = servers.find(slug);
    return (await now?.request(call, peer, signal)) ?? goneReply(slug);
  });
  const need = accountNeedOf(reply);
  if (need !== undefined) return answerNeed(context, server, call, need);
  return isMerged ? attributedReply(reply, slug) : reply;
}

/** @returns the answer to a client whose person has to connect an account first. */
async function answerNeed(
  { requestScope, client, subscriptions }: SessionContext,
  server: Server,
  { method }: Call,
  needed: AccountNeed,
): Promise<Reply> {
  const { slug } = server;
  const need = needOf(needed, requestScope.isAdmin);
  const url = connectUrl(requestScope.origin ?? "", slug, need.ask);
  const label = labelOf(server);
  const answer: NeedAnswer = { need, slug, label, url, client, method, now: Date.now() };
  if (!takesConnectElicitation(answer)) return refusal(answer);
  // One for each link: the handle in it is kept nowhere in clear.
  const elicitationId = await hashOf(url);
  await subscriptions.asked({ slug, elicitationId });
  return connectElicitation(answer, elicitationId);
}

/** Names the server in a result, and in an error that asks for visits to pages. */
export function attributedReply(reply: Reply, slug: string): Reply {
  return "result" in reply
    ? { result: attributed(reply.result, slug) }
    : { ...reply, error: attributedElicitations(reply.error, slug) };
}

async function answerList(
  context: SessionContext,
  list: ListKind,
  call: Call,
  caller: Caller,
): Promise<Reply> {
  const { requestScope, client, subscriptions } = context;
  const { endpoint } = requestScope;
  if (!isIntroducedHere(endpoint)) {
    return listServer(requestScope, list, call, (own) =>
      callServer(context, endpoint.servers[0], own, caller),
    );
  }
  const { params } = call;
  const search = metaOf(params)[SEARCH];
  // A renewal asks the vaults, but not the feeds: these announce it by themselves.
  const onUnasked = ({ key }: Announcer): void => {
    if (vaultOfKey(key) !== undefined) subscriptions.gaveLess();
  };
  const reply = await loggedForAll(requestScope, caller.peer.span, call, () =>
    listPage(requestScope, { client, list, cursor: params?.cursor, search, onUnasked }),
  );
  caller.signal.throwIfAborted();
  return "error" in reply ? reply : { result: asLegacyList(reply.result) };
}

/** `logging/setLevel` for all servers: those in use get the level now, others on their first use. */
async function setLogLevel(context: SessionContext, call: Call): Promise<Reply> {
  const { requestScope, servers, setLogLevel: keep } = context;
  const level = call.params?.level;
  // 2025-11-25, logging: -32602.
  if (!isLogLevel(level)) return noSuchLevel();
  keep(level);
  const sent = servers.sendLogLevel(level);
  // Later requests find the level set, but a slow server delays the answer no longer than this.
  await settleWithin(sent, requestScope.limits.catalogWaitMilliseconds);
  return { result: {} };
}
