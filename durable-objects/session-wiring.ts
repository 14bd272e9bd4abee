/** Wires a session to the servers of its endpoint, to their feeds, and to its own storage. */

import type { HeldAccounts } from "../src/accounts/held-accounts.ts";
import type { Config } from "../src/config/config.ts";
import type { EventLog } from "../src/sessions/log/event-log.ts";
import { type Endpoint, pickEndpoint, serverOf } from "../src/endpoint/endpoint.ts";
import { endpointFor } from "../src/endpoint/personal-endpoint.ts";
import { SessionDispatch } from "../src/dispatch/legacy/session-dispatch.ts";
import { introduceTo } from "../src/dispatch/legacy/introduce-endpoint.ts";
import type { EndpointSubscriptions } from "../src/notifications/legacy/endpoint-subscriptions.ts";
import { byKey, bySlug } from "../src/notifications/server-keys.ts";
import type { RequestScope } from "../src/catalog/request-scope.ts";
import type { CallSink } from "../src/observability/call-record.ts";
import { Session } from "../src/sessions/session.ts";
import type { SessionLife } from "../src/sessions/state.ts";
import { isSavedModern } from "../src/upstream/legacy/saved-connection.ts";
import { callSinksIn } from "./call-sinks.ts";
import { branchFor, feedsIn } from "./ports.ts";
import { sessionKeysOf } from "./keys.ts";
import { personalScopeOf } from "./identity.ts";
import { currentEndpoint, type SessionPublishing } from "./session-publishing.ts";
import type { SessionStore, StoredSession } from "./session-store.ts";

export interface WiringOptions {
  readonly ctx: DurableObjectState;
  readonly env: Env;
  readonly config: Config;
  readonly life: SessionLife;
  readonly log: EventLog;
  readonly store: SessionStore;
  /** True while the person who calls is an administrator. */
  readonly isAdmin: () => boolean;
  readonly accounts: HeldAccounts;
  /** Takes the records of calls; absent when calls are not recorded. */
  readonly activity: CallSink | undefined;
  readonly publishing: SessionPublishing;
  /** Called when the first call starts or the last one has ended. */
  readonly onBusy: (isBusy: boolean) => void;
  /** Called when the client's subscriptions have changed. */
  readonly onSubscribed: () => void;
  /** Called when a stream has lost its reader. */
  readonly onDetach: () => void;
}

export interface WiredSession {
  readonly session: Session;
  /** Takes the servers as they are now. @returns `false` when the endpoint has none any more. */
  readonly configured: (config: Config) => boolean;
  /** The client's subscriptions; `undefined` before `initialize`. */
  readonly subscriptions: () => EndpointSubscriptions | undefined;
}

/**
 * @returns `undefined` when the endpoint has no server, as a deploy may have removed it; and while nobody can be asked
 *   whether a server was added that the session has used.
 */
export function wireSession(
  stored: StoredSession,
  wiring: WiringOptions,
): WiredSession | undefined {
  const { ctx, env, config, life, log, store, isAdmin, activity, publishing } = wiring;
  const { onBusy, onSubscribed, onDetach } = wiring;
  const { door: transport, route, principal, client } = stored;
  const slug = /^\/(?:mcp|sse)\/([^/]+)$/.exec(route)?.[1];
  const { limits } = config;
  /** Who calls is learned when the endpoint gets its first server that has to know. */
  const caller = (): Pick<StoredSession, "person" | "application" | "origin"> =>
    store.known ?? stored;
  let now = config;
  const find = (): Endpoint | undefined => {
    const { person, application, origin } = caller();
    const own = publishing.withPublished(pickEndpoint(now, slug), slug, person);
    if (own.kind !== "endpoint") return undefined;
    return endpointFor(own.endpoint, { person, application, origin }, personalScopeOf(env, now));
  };
  const current = currentEndpoint(find, () => [publishing.names, now, caller().person]);
  if (current === undefined) return undefined;
  const used = Object.keys(stored.upstreams);
  const isWhole = used.every((slug) => serverOf(current(), slug) !== undefined);
  if (!isWhole && config.added === undefined) return undefined;
  const requestScope: RequestScope = {
    get endpoint() {
      return current();
    },
    get publisher() {
      return slug === undefined ? publishing.publisher(caller().person) : undefined;
    },
    route,
    principal,
    get person() {
      return caller().person;
    },
    get application() {
      return caller().application;
    },
    get origin() {
      return caller().origin;
    },
    get isAdmin() {
      return isAdmin();
    },
    limits,
    feeds: feedsIn(env),
    keys: sessionKeysOf(env, config),
    sinks: callSinksIn(env, activity),
    waitUntil: (promise) => ctx.waitUntil(promise),
  };
  /** The vaults tell when an account ends that a session at a server was opened with. */
  const hold = (): void => {
    // Nothing is known of a session that is over: what is saved late is of no account.
    for (const [slug, saved] of Object.entries(store.known?.upstreams ?? {})) {
      const owner = serverOf(current(), slug)?.target.credentials?.owner;
      if (owner === undefined || isSavedModern(saved) || saved.accountId === undefined) continue;
      wiring.accounts.hold({ slug, owner, accountId: saved.accountId });
    }
  };
  hold();
  const id = ctx.id.toString();
  let subscriptions: EndpointSubscriptions | undefined;
  const session = new Session({
    life,
    transport,
    client,
    log,
    synced: () => ctx.storage.sync(),
    limits,
    onBusy,
    onDetach,
    connect: (facts, unsolicited) => {
      const dispatch = new SessionDispatch({
        requestScope,
        client: facts,
        unsolicited,
        source: {
          subscribe: async (interests, ofLife) => {
            const { endpoint, publisher } = requestScope;
            const asked = await byKey(endpoint, interests, publisher);
            return bySlug(endpoint, await branchFor(env, id).subscribe(id, asked, ofLife));
          },
          replace: async (interests, ofLife, pending) => {
            const { endpoint, publisher } = requestScope;
            const asked = await byKey(endpoint, interests, publisher);
            const kept = await byKey(endpoint, pending);
            return bySlug(endpoint, await branchFor(env, id).replace(id, asked, ofLife, kept));
          },
          unsubscribe: async (interests, ofLife) => {
            const left = interests && (await byKey(requestScope.endpoint, interests));
            await branchFor(env, id).unsubscribe(id, left, ofLife);
          },
        },
        saved: stored,
        save: (change) => {
          store.save(change);
          if (change.upstreams !== undefined) hold();
          if (change.wanted !== undefined) onSubscribed();
        },
        savedInbox: store.savedInbox(),
        saveInbox: (state) => store.saveInbox(state),
      });
      ({ subscriptions } = dispatch);
      return dispatch;
    },
    introduce: (facts) => introduceTo(facts, requestScope),
    onInitialized: (facts) => store.save({ client: facts }),
    onListen: (listening) => subscriptions?.listened(listening),
  });
  const configured = (next: Config): boolean => {
    now = next;
    if (find() === undefined) return false;
    session.serversChanged();
    return true;
  };
  return { session, configured, subscriptions: () => subscriptions };
}
