/** Every route and the order of middleware. */

import type { Context, Hono } from "hono";
import { HonoBase } from "hono/hono-base";
import { TrieRouter } from "hono/router/trie-router";

import { addressOf, type AuthBacking, type AuthContext } from "./auth/context/context.ts";
import { noteProbe, traceInto } from "./auth/doctor/tracer.ts";
import { authenticate } from "./auth/resource/bearer.ts";
import { leased } from "./auth/resource/lease.ts";
import { describeResource, nothingWellKnown } from "./auth/resource/resource-metadata.ts";
import { serveMetadata } from "./auth/oauth/endpoints/metadata.ts";
import { register } from "./auth/oauth/endpoints/register.ts";
import { token } from "./auth/oauth/endpoints/token.ts";
import type { Bridges } from "./relay/modern-to-legacy/bridge.ts";
import { type Config, loadConfig } from "./config/config.ts";
import type { FrontDoorContext, Sessions } from "./http/front-door.ts";
import { addCors, guard, preflight } from "./http/guard.ts";
import { serveSse, serveSseMessage } from "./http/http-sse.ts";
import { serveMcp } from "./http/mcp.ts";
import { limitRate } from "./http/rate-limit.ts";
import { inStreamPlace } from "./http/stream-places.ts";
import { pickEndpoint } from "./endpoint/endpoint.ts";
import type { FanOut, Feeds } from "./catalog/feeds.ts";
import { isLoopback } from "./lib/loopback.ts";
import { readCosts } from "./observability/costs.ts";
import { logUnexpected } from "./observability/unexpected.ts";
import { showConnect } from "./pages/connect.ts";
import { notFound, seeOther } from "./pages/respond.ts";
import { PAGES } from "./pages/routes.ts";
import { PATHS } from "./pages/view/paths.ts";
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
}

type App = { Bindings: Env; Variables: { config: Config; backing: Backing } };
type McpHandler = (context: FrontDoorContext) => Promise<Response>;
type SignInHandler = (context: AuthContext, request: Request) => Response | Promise<Response>;

/** The principal and person of every caller without sign-in. */
const LOCAL = "local";

/** @param backingOf called for each request; it caches longer-lived parts itself. */
export function createApp(backingOf: (env: Env, config: Config) => Backing): Hono<App> {
  // One router: the default brings a second one, and chooses. The small preset takes `/path/` for `/path`.
  const app = new HonoBase<App>({ router: new TrieRouter() });

  app.use(async (c, next) => {
    const loaded = loadConfig(c.env);
    if (!loaded.ok) return c.text(`${loaded.problems.join("\n")}\n`, 503);
    const { config } = loaded;
    c.set("config", config);
    c.set("backing", backingOf(c.env, config));
    const policy = { ...config, isLoopbackOnly: config.authMode === "none" };
    const refusal = guard(c.req.raw, policy);
    if (refusal !== undefined) return refusal;
    if (c.req.method === "OPTIONS") c.res = preflight(c.req.raw);
    else await next();
    if (config.authMode === "oauth") noteProbe(c.req.raw, c.res, () => authContext(c).trace);
    addCors(c.req.raw, c.res.headers, policy);
    return undefined;
  });

  app.get("/health", (c) => c.json({ status: "ok", version }));
  app.get("/debug/costs", (c) => {
    const isLocal = isLoopback(new URL(c.req.url).hostname);
    if (!c.get("config").reportsCosts || !isLocal) return c.notFound();
    return c.json(readCosts());
  });
  app.get("/", (c) => {
    const auth = c.get("config").authMode === "none" ? undefined : authContext(c);
    const slugs = [...c.get("config").servers.keys()];
    return showConnect({ origin: originOf(c), slugs, version, auth }, c.req.raw);
  });
  for (const [method, path, handler] of PAGES) app.on(method, path, signIn(handler));

  app.all("/token", signIn(token));
  app.all("/register", signIn(register));
  app.all("/.well-known/oauth-authorization-server", signIn(serveMetadata));
  app.all("/.well-known/oauth-protected-resource", signIn(describeResource));
  app.all("/.well-known/oauth-protected-resource/*", signIn(describeResource));
  app.all("/.well-known/*", nothingWellKnown);

  app.all("/mcp", through(serveMcp));
  app.all("/mcp/:slug", through(serveMcp));
  app.all(
    "/sse",
    through((context) => serveSse(context, "/sse/message")),
  );
  app.all("/sse/message", through(serveSseMessage));
  app.all(
    "/sse/:slug",
    through((context) => serveSse(context, `${context.route}/message`)),
  );
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

/** Authenticates a request, applies the limits of its person, and calls the handler of its endpoint. */
function through(handler: McpHandler): (c: Context<App>) => Promise<Response> {
  return async (c) => {
    const { servers, limits, authMode } = c.get("config");
    const { path, raw: request } = c.req;
    if (isBrowserNavigation(request) && isEndpoint(servers, c.req.param("slug"))) {
      const headers = new Headers({ Vary: "Accept" });
      return seeOther(PATHS.connect, { origin: originOf(c), headers });
    }
    const route = path.replace(/^(\/sse(?:\/[^/]+)?)\/message$/, "$1");
    const authentication =
      authMode === "none" ? undefined : await authenticate(authContext(c), request, route);
    if (authentication?.kind === "refused") return authentication.response;
    const picked = pickEndpoint(servers, c.req.param("slug"));
    switch (picked.kind) {
      case "unknown":
        return c.text("There is no upstream of that name. The MCP endpoint is /mcp.\n", 404);
      case "unserved":
        return c.text(`${picked.sentence}\n`, 503);
      case "endpoint": {
        const principal = authentication?.caller.principal ?? LOCAL;
        const person = authentication?.caller.bearer.user ?? LOCAL;
        const refusal = limitRate(request, { person, principal }, limits);
        if (refusal !== undefined) return refusal;
        const { auth: _, ...backing } = c.get("backing");
        const response = await inStreamPlace(request, person, limits, () =>
          handler({
            ...backing,
            request,
            route,
            endpoint: picked.endpoint,
            limits,
            principal,
            waitUntil: (promise) => c.executionCtx.waitUntil(promise),
          }),
        );
        return authentication === undefined
          ? response
          : leased(response, authentication.caller.lease);
      }
    }
  };
}

/** Recognizes a person who opened an endpoint in a browser: no MCP client accepts only a page. */
function isBrowserNavigation({ method, headers }: Request): boolean {
  const accept = headers.get("accept") ?? "";
  return method === "GET" && accept.includes("text/html") && !accept.includes("text/event-stream");
}

function isEndpoint(servers: Config["servers"], slug: string | undefined): boolean {
  return slug === undefined || servers.has(slug);
}

/** Calls a handler of sign-in; answers 404 without sign-in. */
function signIn(handler: SignInHandler): (c: Context<App>) => Response | Promise<Response> {
  return (c) => {
    if (c.get("config").authMode === "none") return c.notFound();
    return handler(authContext(c), c.req.raw);
  };
}

function authContext(c: Context<App>): AuthContext {
  const { auth } = c.get("backing");
  const { raw: request } = c.req;
  const origin = originOf(c);
  const waitUntil = (promise: Promise<unknown>): void => c.executionCtx.waitUntil(promise);
  return {
    ...auth,
    origin,
    limits: c.get("config").limits,
    waitUntil,
    authority: auth.authorities.at(origin),
    trace: traceInto({
      store: auth.store,
      waitUntil,
      address: addressOf(request),
      agent: request.headers.get("user-agent") ?? "",
    }),
  };
}

/** The origin of all URLs that the gateway gives out. Without PUBLIC_ORIGIN, only loopback hosts get here. */
function originOf(c: Context<App>): string {
  return c.get("config").publicOrigin ?? new URL(c.req.url).origin;
}
