/** Every route and the order of middleware. */

import type { Hono, MiddlewareHandler } from "hono";
import { HonoBase } from "hono/hono-base";
import { TrieRouter } from "hono/router/trie-router";

import { CLIENT_METADATA_PATH } from "./accounts/addresses.ts";
import { isSignInWay } from "./accounts/settings.ts";
import { noteProbe } from "./auth/context/tracer.ts";
import { authenticate } from "./auth/resource/bearer.ts";
import { leased } from "./auth/resource/lease.ts";
import { noSuchDocument } from "./auth/resource/challenge.ts";
import { describeResource } from "./auth/resource/resource-metadata.ts";
import { serveMetadata } from "./auth/oauth/endpoints/metadata.ts";
import { register } from "./auth/oauth/endpoints/register.ts";
import { token } from "./auth/oauth/endpoints/token.ts";
import type { Config, ConfigResult, RefusedConfig } from "./config/config.ts";
import type { FrontDoorContext } from "./http/front-door.ts";
import { serveClientMetadata } from "./http/serve-client-metadata.ts";
import { serveIdentityKeys } from "./http/serve-identity-keys.ts";
import { addCors, guard, isLocal, preflight } from "./http/guard.ts";
import { serveSse, serveSseMessage } from "./http/http-sse.ts";
import { serveMcp } from "./http/mcp.ts";
import { publishedAt, servePublish } from "./http/publishing.ts";
import { limitRate } from "./http/rate-limit.ts";
import { inStreamPlace } from "./http/stream-places.ts";
import { type Endpoint, pickEndpoint, SERVERS_UNKNOWN } from "./endpoint/endpoint.ts";
import { endpointFor } from "./endpoint/personal-endpoint.ts";
import { isLoopback } from "./lib/loopback.ts";
import { mayBeAdded, withKnownResource, withKnownTarget } from "./may-be-added.ts";
import { readCosts } from "./observability/costs.ts";
import { logMistake } from "./observability/gateway-log.ts";
import { logUnexpected } from "./observability/unexpected.ts";
import { serveMcpb } from "./pages/mcpb.ts";
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
import { account, activity, catalog, front, operator, signIn, site } from "./page-handlers.ts";
import {
  type App,
  authContext,
  authOf,
  type Backing,
  originOf,
  type RequestContext,
  waitUntilOf,
} from "./request-context.ts";
import { version } from "../package.json";

type McpHandler = (context: FrontDoorContext) => Promise<Response>;

/** The principal and person of every caller without sign-in. */
const LOCAL = "local";

/** The configuration of an isolate, which operators can change while it runs. */
export interface LiveConfig {
  /** @returns what to wait for until `known` is new enough, if anything. */
  fresh(env: Env, waitUntil: (promise: Promise<unknown>) => void): Promise<unknown> | undefined;
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
  app.get("/", front);
  app.all(PATHS.mcpb, (c) => serveMcpb(c.req.raw));
  app.get(PATHS.authorize, withKnownTarget);
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
  app.all("/.well-known/oauth-protected-resource/*", withKnownResource, signIn(describeResource));
  app.all("/.well-known/jwks.json", (c) => {
    const { servers } = c.get("config");
    const isUsed = [...servers.values()].some(({ identity }) => identity !== undefined);
    return isUsed ? serveIdentityKeys(c.get("backing").identityKeys, c.req.raw) : noSuchDocument();
  });
  app.all("/.well-known/*", noSuchDocument);

  app.all(PUBLISH_PATH, (c) => {
    const { publishing, sinks } = c.get("backing");
    const { limits } = c.get("config");
    return servePublish({
      ...{ request: c.req.raw, publishing, auth: authOf(c), local: LOCAL, limits },
      sinks: { sinks, waitUntil: waitUntilOf(c) },
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
      const renewing = live.fresh(c.env, waitUntilOf(c));
      if (renewing !== undefined) await renewing;
    }
    const loaded = live.known(c.env);
    if (!loaded.ok) {
      logOnce(loaded);
      const said = isLocal(c.req.raw) ? loaded.problems : [MISCONFIGURED];
      return c.text(`${said.join("\n")}\n`, 503);
    }
    c.set("config", loaded.config);
    c.set("configOfNow", async () => {
      await live.fresh(c.env, waitUntilOf(c));
      const now = live.known(c.env);
      return now.ok ? now.config : loaded.config;
    });
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
function through(frontDoor: McpHandler): (c: RequestContext) => Promise<Response> {
  return async (c) => {
    const config = c.get("config");
    const { servers, limits } = config;
    const { path, raw: request } = c.req;
    const slug = c.req.param("slug");
    if (isBrowserNavigation(request) && (slug === undefined || servers.has(slug))) {
      const headers = new Headers({ Vary: "Accept" });
      return seeOther(PATHS.connect, { origin: originOf(c), headers });
    }

    const route = path.replace(/^(\/sse(?:\/[^/]+)?)\/message$/, "$1");
    const auth = authOf(c);
    // A token is judged for a server that is known. 404 would tell a client that its session is over.
    if (auth !== undefined && mayBeAdded(config, slug)) return c.text(`${SERVERS_UNKNOWN}\n`, 503);
    const authentication = auth && (await authenticate(auth, request, route));
    if (authentication?.kind === "refused") return authentication.response;
    const caller = authentication?.caller;
    const principal = caller?.principal ?? LOCAL;
    const person = caller?.bearer.user ?? LOCAL;

    const {
      auth: _,
      identityKeys: _keys,
      servers: _servers,
      personal,
      publishing,
      ...backing
    } = c.get("backing");
    const waitUntil = waitUntilOf(c);
    const publishes = caller === undefined || caller.bearer.publishes === true;
    const pick = (from: Config): ReturnType<typeof publishedAt> =>
      publishedAt(pickEndpoint(from, slug), slug, { publishing, person, publishes, waitUntil });
    const { picked, ...published } = await pick(config);
    if (picked.kind === "unknown") {
      // 404 would tell a client that its session is over.
      if (config.added === undefined) {
        return c.text(`${SERVERS_UNKNOWN}\n`, 503);
      }
      return c.text("There is no upstream of that name. The MCP endpoint is /mcp.\n", 404);
    }
    if (picked.kind === "unserved") return c.text(`${picked.sentence}\n`, 503);

    const application = caller?.bearer.client;
    const { sinks } = backing;
    const sender = { person, principal, application };
    const refusal = limitRate(request, sender, limits, { sinks, waitUntil });
    if (refusal !== undefined) return refusal;

    const origin = originOf(c);
    const own = (endpoint: Endpoint): Endpoint =>
      endpointFor(endpoint, { person, application, origin }, personal);
    const context = {
      ...backing,
      request,
      route,
      endpoint: own(picked.endpoint),
      endpointOfNow: async () => {
        const { picked: now } = await pick(await c.get("configOfNow")());
        return now.kind === "endpoint" ? own(now.endpoint) : undefined;
      },
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
