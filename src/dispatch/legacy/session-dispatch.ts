/** Assembles the dispatch between one client's session and the servers of its endpoint. */

import type { ClientFacts, Dispatch, Unsolicited } from "../../sessions/dispatch.ts";
import { clientKind } from "../../endpoint/client-kind.ts";
import type { Server } from "../../endpoint/server.ts";
import type { RequestScope } from "../../catalog/request-scope.ts";
import { EndpointDispatch } from "./endpoint-dispatch.ts";
import type { SavedInbox } from "../../notifications/legacy/notification-inbox.ts";
import { type SavedServers, ServerSessions, type ServerSide } from "./server-sessions.ts";
import {
  type NewsSource,
  EndpointSubscriptions,
} from "../../notifications/legacy/endpoint-subscriptions.ts";
import type { SavedWanted } from "../../notifications/legacy/session-subscriptions.ts";

/** The state that outlives the holder's memory; plain data. It is written on change, which is rare. */
export interface FederatedState {
  readonly upstreams: SavedServers;
  readonly wanted?: SavedWanted;
  /** The servers at which the client's own sessions are subscribed, as well as the feeds. */
  readonly own?: readonly string[];
  /** The log level that the client has set for all servers. */
  readonly logLevel?: string;
}

export interface FederatedSessionOptions {
  readonly requestScope: RequestScope;
  readonly client: ClientFacts;
  readonly unsolicited: Unsolicited;
  /** Makes the dispatch to one server, for this client. */
  readonly connect: (server: Server, client: ClientFacts, side: ServerSide) => Dispatch;
  readonly source: NewsSource;
  readonly saved: FederatedState;
  readonly save: (change: Partial<FederatedState>) => void;
  readonly savedInbox: SavedInbox | undefined;
  readonly saveInbox: (state: SavedInbox) => void;
}

export interface FederatedSession {
  readonly dispatch: Dispatch;
  readonly subscriptions: EndpointSubscriptions;
}

export function sessionDispatch(options: FederatedSessionOptions): FederatedSession {
  const { requestScope, client, unsolicited, connect, saved, save } = options;
  const { endpoint } = requestScope;
  let { logLevel } = saved;
  const subscriptions = new EndpointSubscriptions({
    requestScope,
    source: options.source,
    own: {
      saved: saved.own ?? [],
      save: (slugs) => save({ own: slugs }),
      request: (slug, call) => servers.requestFor(slug, call),
      takesSubscriptions: (slug) => servers.takesSubscriptions(slug),
    },
    attributed: unsolicited,
    isSilent: () => !endpoint.isMerged && servers.isSilent(endpoint.servers[0]),
    savedWanted: saved.wanted,
    saveWanted: (wanted) => save({ wanted }),
    savedInbox: options.savedInbox,
    saveInbox: options.saveInbox,
  });
  const servers: ServerSessions = new ServerSessions({
    endpoint,
    unsolicited,
    saved: saved.upstreams,
    connect: (server, side) => connect(server, client, side),
    save: (upstreams) => save({ upstreams }),
    onSilent: () => subscriptions.silenced(),
    logLevel: () => logLevel,
    passes: (slug, notice) => subscriptions.passes(slug, notice),
    subscriptions: (slug) => subscriptions.ownUris(slug),
  });
  const dispatch = new EndpointDispatch({
    requestScope,
    servers,
    subscriptions,
    client: clientKind(client.revision, client.capabilities),
    setLogLevel: (level) => {
      logLevel = level;
      save({ logLevel: level });
    },
  });
  return { dispatch, subscriptions };
}
