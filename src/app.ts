/** Every route and the order of middleware. */

import type { Context, Hono, MiddlewareHandler } from "hono";
import { HonoBase } from "hono/hono-base";
import { TrieRouter } from "hono/router/trie-router";

import type { Activities } from "./activity/activities.ts";
import { CLIENT_METADATA_PATH } from "./accounts/addresses.ts";
import { isSignInWay } from "./accounts/settings.ts";
import type { IdentityKeys } from "./accounts/assertion/identity-keys.ts";
import { type AuthBacking, type AuthContext, authContextOf } from "./auth/context/context.ts";
import { noteProbe } from "./auth/context/tracer.ts";
import { authenticate } from "./auth/resource/bearer.ts";
import { leased } from "./auth/resource/lease.ts";
import { noSuchDocument } from "./auth/resource/challenge.ts";
import { describeResource } from "./auth/resource/resource-metadata.ts";
import { serveMetadata } from "./auth/oauth/endpoints/metadata.ts";
import { register } from "./auth/oauth/endpoints/register.ts";
import { token } from "./auth/oauth/endpoints/token.ts";
import type { Bridges } from "./relay/modern-to-legacy/bridge.ts";
import type { Config, ConfigResult, RefusedConfig } from "./config/config.ts";
import { consoleOf } from "./http/console.ts";
import type { FrontDoorContext, Sessions } from "./http/front-door.ts";
import { serveClientMetadata } from "./http/serve-client-metadata.ts";
import { serveIdentityKeys } from "./http/serve-identity-keys.ts";
import { addCors, guard, isLocal, preflight } from "./http/guard.ts";
import { serveSse, serveSseMessage } from "./http/http-sse.ts";
import { serveMcp } from "./http/mcp.ts";
import { publishedAt, type PublishingBacking, servePublish } from "./http/publishing.ts";
import { limitRate } from "./http/rate-limit.ts";
import { inStreamPlace } from "./http/stream-places.ts";
import { pickEndpoint } from "./endpoint/endpoint.ts";
import { endpointFor, type PersonalScope } from "./endpoint/personal-endpoint.ts";
import type { FanOut, Feeds } from "./catalog/feeds.ts";
import { isLoopback } from "./lib/loopback.ts";
import type { CallSink } from "./observability/call-record.ts";
import type { Tracer } from "./protocol/tracer.ts";
import type { ServerStore } from "./observability/added-servers.ts";
import { readCosts } from "./observability/costs.ts";
import { logMistake } from "./observability/gateway-log.ts";
import { logUnexpected } from "./observability/unexpected.ts";
import type { Accounts, SiteContext } from "./pages/account-context.ts";
import type { AccountHandler } from "./pages/account-visit.ts";
import type { ActivityHandler } from "./pages/activity-visit.ts";
import type { CatalogHandler } from "./pages/catalog-visit.ts";
import { showConnect } from "./pages/connect.ts";
import { serveMcpb } from "./pages/mcpb.ts";
import type { GatewayServers } from "./pages/operator/gateway-servers.ts";
import type { OperatorHandler } from "./pages/operator-visit.ts";
import type { Handler } from "./pages/page-guard.ts";
import { notFound, seeOther } from "./pages/respond.ts";
import {
  ACCOUNT_PAGES,
  ACTIVITY_PAGES,
  CATALOG_PAGES,
  OPERATOR_PAGES,
  PAGES,
} from "./pages/routes.ts";
import { PATHS } from "./pages/view/paths.ts";
import { PUBLISH_PATH } from "./protocol/publishing.ts";
import type { SessionKeys } from "./endpoint/keyring.ts";
import { version } from "../package.json";

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
  readonly servers: GatewayServers;
  readonly activities: Activities;
  readonly tracer?: () => Tracer | undefined;
  /** The servers that operators have added, and the switches of all. */
  readonly serverStore: ServerStore;
}

type App = { Bindings: Env; Variables: { config: Config; backing: Backing; auth?: AuthContext } };
type McpHandler = (context: FrontDoorContext) => Promise<Response>;
type SignInHandler = (context: AuthContext, request: Request) => Response | Promise<Response>;

/** The principal and person of every caller without sign-in. */
const LOCAL = "local";

/** The configuration of an isolate, which operators can change while it runs. */
export interface LiveConfig {
  /** @returns what to wait for until `known` is new enough, if anything. */
  fresh(env: Env, waitUntil: (promise: Promise<unknown>) => void): Promise<void> | undefined;
  known(env: Env): ConfigResult;
}

/** @param backingOf called for each request; it caches longer-lived parts itself. */
export function createApp(
  live: LiveConfig,
  backingOf: (env: Env, config: Config) => Backing,
): Hono<App> {
  // One router: the default brings a second one, and chooses. The small preset takes `/path/` for `/path`.
  const app = new HonoBase<App>({ router: new TrieRouter() });

  app.use(configure(live, backingOf), guardHostAndOrigin, noteProbes);

  app.get("/health", (c) => c.json({ status: "ok", version }));
  app.get("/debug/costs", (c) => {
    const isLocal = isLoopback(new URL(c.req.url).hostname);
    if (!c.get("config").reportsCosts || !isLocal) return c.notFound();
    return c.json(readCosts());
  });
  app.get("/", (c) => {
    const config = c.get("config");
    const auth = config.authMode === "none" ? undefined : authContext(c);
    const picked = pickEndpoint(config, undefined);
    const isMerged = picked.kind === "endpoint" && picked.endpoint.isMerged;
    const servers = isMerged ? [...config.servers.values()] : [];
    const { notices, isPublishingOn } = config;
    const context = { origin: originOf(c), servers, notices, isPublishingOn, version, auth };
    return showConnect(context, c.req.raw);
  });
  app.all(PATHS.mcpb, (c) => serveMcpb(c.req.raw));
  for (const [method, path, handler] of PAGES) app.on(method, path, site(handler));
  for (const [method, path, handler] of OPERATOR_PAGES) app.on(method, path, operator(handler));
  for (const [method, path, handler] of ACCOUNT_PAGES) app.on(method, path, account(handler));
  for (const [method, path, handler] of CATALOG_PAGES) app.on(method, path, catalog(handler));
  for (const [method, path, handler] of ACTIVITY_PAGES) app.on(method, path, activity(handler));
  app.all(CLIENT_METADATA_PATH, (c) => {
    const servers = [...c.get("backing").accounts.servers.values()];
    const slugs = servers.flatMap(({ slug, auth }) => (isSignInWay(auth) ? slug : []));
    return serveClientMetadata(originOf(c), slugs, c.req.raw);
  });

  app.all("/token", signIn(token));
  app.all("/register", signIn(register));
  app.all("/.well-known/oauth-authorization-server", signIn(serveMetadata));
  app.all("/.well-known/oauth-protected-resource", signIn(describeResource));
  app.all("/.well-known/oauth-protected-resource/*", signIn(describeResource));
  app.all("/.well-known/jwks.json", (c) => {
    const { servers } = c.get("config");
    const isUsed = [...servers.values()].some(({ identity }) => identity !== undefined);
    return isUsed ? serveIdentityKeys(c.get("backing").identityKeys, c.req.raw) : noSuchDocument();
  });
  app.all("/.well-known/*", noSuchDocument);

  app.all(PUBLISH_PATH, (c) => {
    const { publishing, sinks } = c.get("backing");
    const { limits, authMode } = c.get("config");
    const auth = authMode === "none" ? undefined : authContext(c);
    const own = { request: c.req.raw, publishing, auth, local: LOCAL, limits };
    return servePublish({
      ...own,
      sinks: { sinks, waitUntil: (work) => c.executionCtx.waitUntil(work) },
    });
  });
  app.all("/mcp", through(serveMcp));
  app.all("/mcp/:slug", through(serveMcp));
  app.all("/sse", through(serveSse));
  app.all("/sse/message", through(serveSseMessage));
  app.all("/sse/:slug", through(serveSse));
  app.all("/sse/:slug/message", through(serveSseMessage));

  app.notFound((c) =>
    c.req.header("accept")?.includes("text/html") === true
      ? notFound({ origin: originOf(c) })
      : c.text("There is nothing here. The MCP endpoint is /mcp.\n", 404),
  );
  app.onError((error, c) => {
    const reference = logUnexpected(error);
    return c.text(`Something went wrong inside the gateway (reference ${reference}).\n`, 500);
  });
  return app;
}

type Step = MiddlewareHandler<App>;

/** Mistakes that concern the whole gateway answer every route; strangers are not told what they are. */
function configure(live: LiveConfig, backingOf: (env: Env, config: Config) => Backing): Step {
  return async (c, next) => {
    if (!WITHOUT_SERVERS.has(c.req.path)) {
      const renewing = live.fresh(c.env, (promise) => c.executionCtx.waitUntil(promise));
      if (renewing !== undefined) await renewing;
    }
    const loaded = live.known(c.env);
    if (!loaded.ok) {
      logOnce(loaded);
      const said = isLocal(c.req.raw) ? loaded.problems : [MISCONFIGURED];
      return c.text(`${said.join("\n")}\n`, 503);
    }
    c.set("config", loaded.config);
    c.set("backing", backingOf(c.env, loaded.config));
    return next();
  };
}

/** They say nothing about servers, so nobody is asked which there are; the second would count its own question. */
const WITHOUT_SERVERS: ReadonlySet<string> = new Set(["/health", "/debug/costs"]);

const MISCONFIGURED =
  "This gateway has mistakes in its configuration. Its operator finds them in its log.";

const logged = new WeakSet<RefusedConfig>();

function logOnce(loaded: RefusedConfig): void {
  if (logged.has(loaded)) return;
  logged.add(loaded);
  loaded.problems.forEach(logMistake);
}

const guardHostAndOrigin: Step = async (c, next) => {
  const policy = c.get("config");
  const { raw: request } = c.req;
  const refusal = guard(request, policy);
  if (refusal !== undefined) return refusal;
  if (request.method === "OPTIONS") c.res = preflight(request);
  else await next();
  addCors(request, c.res, policy);
  return undefined;
};

/** The login doctor shows where clients have looked for the sign-in. */
const noteProbes: Step = async (c, next) => {
  await next();
  if (c.get("config").authMode === "oauth") {
    noteProbe(c.req.raw, c.res, () => authContext(c).trace);
  }
};

/** A request of an MCP client: the checks in their order, and then the front door. */
function through(frontDoor: McpHandler): (c: Context<App>) => Promise<Response> {
  return async (c) => {
    const config = c.get("config");
    const { servers, limits, authMode } = config;
    const { path, raw: request } = c.req;
    const slug = c.req.param("slug");
    if (isBrowserNavigation(request) && (slug === undefined || servers.has(slug))) {
      const headers = new Headers({ Vary: "Accept" });
      return seeOther(PATHS.connect, { origin: originOf(c), headers });
    }

    const route = path.replace(/^(\/sse(?:\/[^/]+)?)\/message$/, "$1");
    const authentication =
      authMode === "none" ? undefined : await authenticate(authContext(c), request, route);
    if (authentication?.kind === "refused") return authentication.response;
    const caller = authentication?.caller;
    const principal = caller?.principal ?? LOCAL;
    const person = caller?.bearer.user ?? LOCAL;

    const {
      auth: _,
      identityKeys: _keys,
      servers: _servers,
      serverStore: _store,
      personal,
      publishing,
      ...backing
    } = c.get("backing");
    const waitUntil = (promise: Promise<unknown>): void => c.executionCtx.waitUntil(promise);
    const publishes = caller === undefined || caller.bearer.publishes === true;
    const { picked, ...published } = await publishedAt(pickEndpoint(config, slug), slug, {
      ...{ publishing, person, publishes, waitUntil },
    });
    if (picked.kind === "unknown") {
      return c.text("There is no upstream of that name. The MCP endpoint is /mcp.\n", 404);
    }
    if (picked.kind === "unserved") return c.text(`${picked.sentence}\n`, 503);

    const application = caller?.bearer.client;
    const { sinks } = backing;
    const sender = { person, principal, application };
    const refusal = limitRate(request, sender, limits, { sinks, waitUntil });
    if (refusal !== undefined) return refusal;

    const origin = originOf(c);
    const endpoint = endpointFor(picked.endpoint, { person, application, origin }, personal);
    const context = {
      ...backing,
      request,
      route,
      endpoint,
      limits,
      principal,
      person,
      origin,
      application,
      isAdmin: caller === undefined || caller.bearer.isAdmin,
      ...published,
      waitUntil,
    };
    const response = await inStreamPlace(request, person, limits, () => frontDoor(context));
    return caller === undefined ? response : leased(response, caller.lease);
  };
}

/** Recognizes a person who opened an endpoint in a browser: no MCP client accepts only a page. */
function isBrowserNavigation({ method, headers }: Request): boolean {
  if (method !== "GET") return false;
  const accept = headers.get("accept") ?? "";
  return accept.includes("text/html") && !accept.includes("text/event-stream");
}

/** Calls the handler of a page that only people who are signed in have. */
function site(handler: Handler): (c: Context<App>) => Response | Promise<Response> {
  return (c) => signIn((context, request) => handler({ ...context, ...siteParts(c) }, request))(c);
}

function siteParts(c: Context<App>): Pick<SiteContext, "accounts" | "publishers" | "servers"> {
  const { accounts, servers, publishing } = c.get("backing");
  return { accounts, servers, publishers: publishing?.publishers };
}

/** Calls the handler of a page of whoever runs the gateway: an administrator, or the person at the machine. */
function operator(handler: OperatorHandler): (c: Context<App>) => Promise<Response> {
  return (c) => {
    const auth = c.get("config").authMode === "none" ? undefined : authContext(c);
    const context = { origin: originOf(c), ...siteParts(c), auth };
    return handler(context, c.req.raw, c.req.param("slug") ?? "");
  };
}

/** Calls the handler of a page about an account at a server: it is somebody's, who has to be signed in. */
function account(handler: AccountHandler): (c: Context<App>) => Response | Promise<Response> {
  return (c) => {
    const { accounts } = c.get("backing");
    const slug = c.req.param("slug") ?? "";
    return signIn((auth, request) =>
      handler({ origin: originOf(c), accounts, auth }, request, slug),
    )(c);
  };
}

/** Calls the handler of a page about what there is, which exists without sign-in, too. */
function catalog(handler: CatalogHandler): (c: Context<App>) => Promise<Response> {
  return (c) => {
    const { servers, notices, limits, authMode } = c.get("config");
    const { auth: _, accounts, serverStore, ...backing } = c.get("backing");
    const auth = authMode === "none" ? undefined : authContext(c);
    const origin = originOf(c);
    const request = c.req.raw;
    const waitUntil = (promise: Promise<unknown>): void => c.executionCtx.waitUntil(promise);
    const scope = { ...backing, servers, notices, limits, origin, request, waitUntil };
    const context = {
      ...{ origin, accounts, auth, serverStore, waitUntil },
      maxFormBytes: limits.maxBodyBytes,
      consoleOf: (person: string) => consoleOf({ ...scope, person }),
    };
    const place = { slug: c.req.param("slug") ?? "", tool: c.req.param("tool") ?? "" };
    return handler(context, request, place);
  };
}

/** Calls the handler of a page about what happened, which exists without sign-in, too. */
function activity(handler: ActivityHandler): (c: Context<App>) => Promise<Response> {
  return (c) => {
    const { servers, limits, authMode, activity: recorded } = c.get("config");
    const { accounts, activities } = c.get("backing");
    const auth = authMode === "none" ? undefined : authContext(c);
    const slugs = [...servers.keys()];
    const keepAliveMs = limits.keepAliveSeconds * 1000;
    const context = {
      origin: originOf(c),
      accounts,
      auth,
      activities,
      recorded,
      slugs,
      keepAliveMs,
    };
    return handler(context, c.req.raw);
  };
}

/** Calls a handler of sign-in; answers 404 without sign-in. */
function signIn(handler: SignInHandler): (c: Context<App>) => Response | Promise<Response> {
  return (c) => {
    if (c.get("config").authMode === "none") return c.notFound();
    return handler(authContext(c), c.req.raw);
  };
}

/** Made when first needed, once for a request. */
function authContext(c: Context<App>): AuthContext {
  const made: AuthContext | undefined = c.get("auth");
  if (made !== undefined) return made;
  const context = authContextOf(c.get("backing").auth, {
    request: c.req.raw,
    origin: originOf(c),
    limits: c.get("config").limits,
    waitUntil: (promise) => c.executionCtx.waitUntil(promise),
  });
  c.set("auth", context);
  return context;
}

/** The origin of all URLs that the gateway gives out. Without PUBLIC_ORIGIN, only loopback hosts get here. */
function originOf(c: Context<App>): string {
  return c.get("config").publicOrigin ?? new URL(c.req.url).origin;
}
