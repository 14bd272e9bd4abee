/** What every handler of a request has: the configuration, the ports, and what is made of them once for a request. */

import type { Context } from "hono";

import type { IdentityKeys } from "./accounts/assertion/identity-keys.ts";
import type { Activities } from "./activity/activities.ts";
import { type AuthBacking, type AuthContext, authContextOf } from "./auth/context/context.ts";
import type { FanOut, Feeds } from "./catalog/feeds.ts";
import type { Config } from "./config/config.ts";
import type { SessionKeys } from "./endpoint/keyring.ts";
import type { PersonalScope } from "./endpoint/personal-endpoint.ts";
import type { Sessions } from "./http/front-door.ts";
import type { PublishingBacking } from "./http/publishing.ts";
import type { CallSink } from "./observability/call-record.ts";
import type { Accounts } from "./pages/account-context.ts";
import type { GatewayServers } from "./pages/operator/gateway-servers.ts";
import type { Tracer } from "./protocol/tracer.ts";
import type { Bridges } from "./relay/modern-to-legacy/bridge.ts";

/** The ports that the composition root implements with Durable Objects. */
export interface Backing {
  readonly sessions: Sessions;
  readonly feeds: Feeds;
  readonly fanOut: FanOut;
  readonly bridges: Bridges;
  readonly keys: SessionKeys;
  readonly auth: AuthBacking;
  readonly personal: PersonalScope;
  readonly identityKeys: IdentityKeys;
  readonly accounts: Accounts;
  /** `undefined` while publishing is off. */
  readonly publishing: PublishingBacking | undefined;
  /** What takes the records of calls, beside the log. */
  readonly sinks?: readonly CallSink[] | undefined;
  /** That of them which writes for /activity. */
  readonly activity?: CallSink | undefined;
  readonly servers: GatewayServers;
  readonly activities: Activities;
  readonly tracer?: () => Tracer | undefined;
}

export type App = {
  Bindings: Env;
  Variables: {
    config: Config;
    /** The configuration as it is now, for a request that lasts. */
    configOfNow: () => Promise<Config>;
    backing: Backing;
    auth?: AuthContext;
  };
};

export type RequestContext = Context<App>;

/** Made when first needed, once for a request. */
export function authContext(c: RequestContext): AuthContext {
  const made: AuthContext | undefined = c.get("auth");
  if (made !== undefined) return made;
  const context = authContextOf(c.get("backing").auth, {
    request: c.req.raw,
    origin: originOf(c),
    limits: c.get("config").limits,
    waitUntil: waitUntilOf(c),
  });
  c.set("auth", context);
  return context;
}

/** @returns `undefined` without sign-in. */
export function authOf(c: RequestContext): AuthContext | undefined {
  return c.get("config").authMode === "none" ? undefined : authContext(c);
}

/** Keeps the Worker running for work that outlives the response. */
export function waitUntilOf(c: RequestContext): (work: Promise<unknown>) => void {
  return (work) => c.executionCtx.waitUntil(work);
}

/** The origin of all URLs that the gateway gives out. Without PUBLIC_ORIGIN, only loopback hosts get here. */
export function originOf(c: RequestContext): string {
  return c.get("config").publicOrigin ?? new URL(c.req.url).origin;
}
