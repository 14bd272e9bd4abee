/** Wires a session to the servers of its endpoint, to the feeds on them, and to its own storage. */

import { introduce } from "../src/bridge/introduce.ts";
import { serverForSession } from "../src/bridge/server-for-session.ts";
import type { Config } from "../src/config.ts";
import type { EventLog } from "../src/event-log/event-log.ts";
import { pickEndpoint } from "../src/federation/endpoint.ts";
import { toolFactsOf } from "../src/federation/catalog/tool-facts.ts";
import { clientKind } from "../src/federation/client-kind.ts";
import { federateSession } from "../src/federation/session/federate-session.ts";
import { introduceTo } from "../src/federation/session/introduce.ts";
import type { Subscriptions } from "../src/federation/session/subscriptions.ts";
import type { Surroundings } from "../src/federation/surroundings.ts";
import { hasOlderTasks } from "../src/protocol/older-tasks.ts";
import { Session } from "../src/sessions/session.ts";
import { fanOutIn } from "./fan-out-in.ts";
import { feedsIn } from "./feeds-in.ts";
import { keysOf } from "./keys-of.ts";
import { sessionLimits } from "./session-limits.ts";
import type { SessionStore, StoredSession } from "./session-store.ts";

export interface WiringOptions {
  readonly ctx: DurableObjectState;
  readonly env: Env;
  readonly config: Config;
  readonly log: EventLog;
  readonly store: SessionStore;
  /** Called when the first call starts or the last one has ended. */
  readonly onBusy: (isBusy: boolean) => void;
  /** What the client wants to hear of has changed. */
  readonly onWanted: () => void;
  /** A reader has gone. */
  readonly onDetach: () => void;
}

export interface WiredSession {
  readonly session: Session;
  /** What it wants to hear of; `undefined` before `initialize`. */
  readonly subscriptions: () => Subscriptions | undefined;
}

/** @returns `undefined` when the endpoint leads nowhere: a deploy may have taken its server. */
export function wireSession(
  stored: StoredSession,
  wiring: WiringOptions,
): WiredSession | undefined {
  const { ctx, env, config, log, store, onBusy, onWanted, onDetach } = wiring;
  const { door, route, principal, client } = stored;
  const slug = /^\/(?:mcp|sse)\/([^/]+)$/.exec(route)?.[1];
  const picked = pickEndpoint(config.servers, slug);
  if (picked.kind !== "endpoint") return undefined;
  const { limits } = config;
  const surroundings: Surroundings = {
    ...{ endpoint: picked.endpoint, route, principal, limits },
    ...{ feeds: feedsIn(env.FEEDS), keys: keysOf(env, config) },
    waitUntil: (promise) => ctx.waitUntil(promise),
  };
  const fanOut = fanOutIn(env.FAN_OUT);
  const id = ctx.id.toString();
  let subscriptions: Subscriptions | undefined;
  const session = new Session({
    ...{ door, client, log, limits: sessionLimits(limits), onBusy, onDetach },
    connect: (facts, unsolicited) => {
      const federated = federateSession({
        ...{ surroundings, client: facts, unsolicited },
        connect: (server, client, side) => {
          const kind = clientKind(client.revision, client.capabilities);
          const toolFacts = toolFactsOf(surroundings, server, kind);
          // Where several servers meet, none are advertised: an id would have to say whose it is.
          const hasTasks = !picked.endpoint.isMerged && hasOlderTasks(client.revision);
          const { target } = server;
          const maxTools = limits.catalogItems;
          return serverForSession({ ...side, target, client, toolFacts, hasTasks, maxTools });
        },
        source: {
          subscribe: (interests) => fanOut.subscribe(id, interests),
          unsubscribe: (interests) => fanOut.unsubscribe(id, interests),
        },
        saved: stored,
        save: (change) => {
          store.save(change);
          if (change.wanted !== undefined) onWanted();
        },
        savedHearing: store.heard(),
        saveHearing: (state) => store.saveHeard(state),
      });
      ({ subscriptions } = federated);
      return federated.dispatch;
    },
    introduce: (facts) => introduceTo(facts, surroundings, introduce),
    onInitialized: (facts) => store.save({ client: facts }),
    onListen: () => subscriptions?.listened(),
  });
  return { session, subscriptions: () => subscriptions };
}
