/** Puts together what stands between one client's session and the servers of its endpoint. */

import type { ClientFacts, Dispatch, Unsolicited } from "../../sessions/dispatch.ts";
import { clientKind } from "../client-kind.ts";
import type { Server } from "../server.ts";
import type { Surroundings } from "../surroundings.ts";
import { FederatedDispatch } from "./federated-dispatch.ts";
import type { SavedHearing } from "./hearing.ts";
import { OwnSubscriptions } from "./own-subscriptions.ts";
import { type SavedServers, ServerSessions, type ServerSide } from "./server-sessions.ts";
import { type NewsSource, Subscriptions } from "./subscriptions.ts";
import type { SavedWanted } from "./wanted.ts";

/** What outlives the holder's memory; plain data. Written when it changes, and that is rarely. */
export interface FederatedState {
  readonly upstreams: SavedServers;
  readonly wanted?: SavedWanted;
  /** The servers at which the client's own sessions are subscribed to what it wants, too. */
  readonly own?: readonly string[];
  /** What the client wants to have logged, where that is said to all servers. */
  readonly logLevel?: string;
}

export interface FederatedSessionOptions {
  readonly surroundings: Surroundings;
  readonly client: ClientFacts;
  readonly unsolicited: Unsolicited;
  /** Makes the way to one server, for this client. */
  readonly connect: (server: Server, client: ClientFacts, side: ServerSide) => Dispatch;
  readonly source: NewsSource;
  readonly saved: FederatedState;
  readonly save: (change: Partial<FederatedState>) => void;
  readonly savedHearing: SavedHearing | undefined;
  readonly saveHearing: (state: SavedHearing) => void;
}

export interface FederatedSession {
  readonly dispatch: Dispatch;
  readonly subscriptions: Subscriptions;
}

export function federateSession(options: FederatedSessionOptions): FederatedSession {
  const { surroundings, client, unsolicited, connect, saved, save } = options;
  const { endpoint } = surroundings;
  let { logLevel } = saved;
  const own = new OwnSubscriptions({
    saved: saved.own ?? [],
    save: (slugs) => save({ own: slugs }),
    request: (slug, call) => servers.requestFor(slug, call),
    takesSubscriptions: (slug) => servers.takesSubscriptions(slug),
  });
  const subscriptions = new Subscriptions({
    ...{ surroundings, source: options.source, own, voice: unsolicited },
    isSilent: () => !endpoint.isMerged && servers.isSilent(endpoint.servers[0]),
    savedWanted: saved.wanted,
    saveWanted: (wanted) => save({ wanted }),
    savedHearing: options.savedHearing,
    saveHearing: options.saveHearing,
  });
  const servers: ServerSessions = new ServerSessions({
    ...{ endpoint, unsolicited, saved: saved.upstreams },
    connect: (server, side) => connect(server, client, side),
    save: (upstreams) => save({ upstreams }),
    onSilent: () => subscriptions.silenced(),
    logLevel: () => logLevel,
    passes: (slug, notice) => subscriptions.passes(slug, notice),
    subscriptions: (slug) => subscriptions.ownUris(slug),
  });
  const dispatch = new FederatedDispatch({
    ...{ surroundings, servers, subscriptions },
    client: clientKind(client.revision, client.capabilities),
    setLogLevel: (level) => {
      logLevel = level;
      save({ logLevel: level });
    },
  });
  return { dispatch, subscriptions };
}
