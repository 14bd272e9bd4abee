/** Brings each kind of page what its handler needs of a request. */

import type { AuthContext } from "./auth/context/context.ts";
import { pickEndpoint } from "./endpoint/endpoint.ts";
import { consoleOf } from "./http/console.ts";
import { publishedBy } from "./http/publishing.ts";
import type { SiteContext } from "./pages/account-context.ts";
import type { AccountHandler } from "./pages/account-visit.ts";
import type { ActivityHandler } from "./pages/activity-visit.ts";
import type { CatalogHandler } from "./pages/catalog-visit.ts";
import { showConnect } from "./pages/connect.ts";
import type { OperatorHandler } from "./pages/operator-visit.ts";
import type { Handler } from "./pages/page-guard.ts";
import type { PageVisitor } from "./pages/page-visitor.ts";
import {
  authContext,
  authOf,
  originOf,
  type RequestContext,
  waitUntilOf,
} from "./request-context.ts";
import { version } from "../package.json";

type SignInHandler = (context: AuthContext, request: Request) => Response | Promise<Response>;

/** `/`: how clients connect. */
export function front(c: RequestContext): Promise<Response> {
  const config = c.get("config");
  const picked = pickEndpoint(config, undefined);
  const isMerged = picked.kind === "endpoint" && picked.endpoint.isMerged;
  const servers = isMerged ? [...config.servers.values()] : [];
  const { notices, isPublishingOn } = config;
  const context = {
    origin: originOf(c),
    servers,
    notices,
    isPublishingOn,
    version,
    auth: authOf(c),
  };
  return showConnect(context, c.req.raw);
}

/** Calls the handler of a page that only people who are signed in have. */
export function site(handler: Handler): (c: RequestContext) => Response | Promise<Response> {
  return (c) => signIn((context, request) => handler({ ...context, ...siteParts(c) }, request))(c);
}

function siteParts(c: RequestContext): Pick<SiteContext, "accounts" | "publishers" | "servers"> {
  const { accounts, servers, publishing } = c.get("backing");
  return { accounts, servers, publishers: publishing?.publishers };
}

/** Calls the handler of a page of whoever runs the gateway: an administrator, or the person at the machine. */
export function operator(handler: OperatorHandler): (c: RequestContext) => Promise<Response> {
  return (c) => {
    const context = { origin: originOf(c), ...siteParts(c), auth: authOf(c) };
    return handler(context, c.req.raw, c.req.param("slug") ?? "");
  };
}

/** Calls the handler of a page about an account at a server: it is somebody's, who has to be signed in. */
export function account(
  handler: AccountHandler,
): (c: RequestContext) => Response | Promise<Response> {
  return (c) => {
    const { accounts } = c.get("backing");
    const slug = c.req.param("slug") ?? "";
    return signIn((auth, request) =>
      handler({ origin: originOf(c), accounts, auth }, request, slug),
    )(c);
  };
}

/** Calls the handler of a page about what there is, which exists without sign-in, too. */
export function catalog(handler: CatalogHandler): (c: RequestContext) => Promise<Response> {
  return (c) => {
    const configured = c.get("config");
    const { limits } = configured;
    const { auth: _, accounts, ...backing } = c.get("backing");
    const origin = originOf(c);
    const request = c.req.raw;
    const waitUntil = waitUntilOf(c);
    const scope = { ...backing, configured, limits, origin, request, waitUntil };
    const context = {
      ...{ origin, accounts, auth: authOf(c), waitUntil },
      maxFormBytes: limits.maxBodyBytes,
      consoleOf: async ({ person, user }: PageVisitor, slug: string) => {
        const publishes = user === undefined || user.publishes === true;
        const { publishing } = backing;
        const own = await publishedBy({ publishing, person, publishes, waitUntil }, slug);
        return consoleOf({ ...scope, person, own });
      },
    };
    const place = { slug: c.req.param("slug") ?? "", tool: c.req.param("tool") ?? "" };
    return handler(context, request, place);
  };
}

/** Calls the handler of a page about what happened, which exists without sign-in, too. */
export function activity(handler: ActivityHandler): (c: RequestContext) => Promise<Response> {
  return (c) => {
    const { servers, limits, activity: recorded } = c.get("config");
    const { accounts, activities } = c.get("backing");
    const context = {
      ...{ origin: originOf(c), auth: authOf(c), accounts, activities, recorded },
      slugs: [...servers.keys()],
      keepAliveMs: limits.keepAliveSeconds * 1000,
    };
    return handler(context, c.req.raw);
  };
}

/** Calls a handler of sign-in; answers 404 without sign-in. */
export function signIn(
  handler: SignInHandler,
): (c: RequestContext) => Response | Promise<Response> {
  return (c) => {
    if (c.get("config").authMode === "none") return c.notFound();
    return handler(authContext(c), c.req.raw);
  };
}
