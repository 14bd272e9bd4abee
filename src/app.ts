/** Every route and the order of middleware. */

import { type Context, Hono } from "hono";

import { type Config, loadConfig } from "./config.ts";
import type { DoorContext, Sessions } from "./downstream/door.ts";
import { addCors, guard, preflight } from "./downstream/guard.ts";
import { serveSse, serveSseMessage } from "./downstream/http-sse.ts";
import { serveMcp } from "./downstream/mcp.ts";
import { pickTarget } from "./federation/pick-target.ts";
import { isLoopback } from "./lib/loopback.ts";
import { readCosts } from "./observability/costs.ts";
import { logUnexpected } from "./observability/unexpected.ts";
import type { SessionKeys } from "./sessions/session-keys.ts";
import { version } from "../package.json";

/** What the composition root knows how to make: the Durable Objects behind ports. */
export interface Backing {
  readonly sessions: Sessions;
  readonly keys: SessionKeys;
}

type App = { Bindings: Env; Variables: { config: Config; backing: Backing } };
type Door = (context: DoorContext) => Promise<Response>;

/** Who is calling when nobody signs in. */
const LOCAL = "local";

/** @param backingOf called for each request; what lasts longer is its own to keep. */
export function createApp(backingOf: (env: Env, config: Config) => Backing): Hono<App> {
  const app = new Hono<App>();

  app.use(async (c, next) => {
    const loaded = loadConfig(c.env);
    if (!loaded.ok) return c.text(`${loaded.problems.join("\n")}\n`, 503);
    const { config } = loaded;
    c.set("config", config);
    c.set("backing", backingOf(c.env, config));
    const refusal = guard(c.req.raw, { ...config, isLoopbackOnly: config.authMode === "none" });
    if (refusal !== undefined) return refusal;
    if (c.req.method === "OPTIONS") c.res = preflight(c.req.raw);
    else await next();
    addCors(c.req.raw, c.res.headers);
    return undefined;
  });

  app.get("/health", (c) => c.json({ status: "ok", version }));
  app.get("/debug/costs", (c) => {
    const isLocal = isLoopback(new URL(c.req.url).hostname);
    if (!c.get("config").reportsCosts || !isLocal) return c.notFound();
    return c.json(readCosts());
  });
  app.get("/", (c) => c.text(welcome(new URL(c.req.url).origin)));
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

  app.notFound((c) => c.text("There is nothing here. The MCP endpoint is /mcp.\n", 404));
  app.onError((error, c) => {
    const reference = logUnexpected(error);
    return c.text(`Something went wrong inside the gateway (reference ${reference}).\n`, 500);
  });
  return app;
}

/** Leads a request to its upstream's front door. */
function through(door: Door): (c: Context<App>) => Promise<Response> {
  return async (c) => {
    const { servers, limits } = c.get("config");
    const slug = c.req.param("slug");
    const picked = pickTarget(servers, slug);
    switch (picked.kind) {
      case "unknown":
        return c.text("There is no upstream of that name. The MCP endpoint is /mcp.\n", 404);
      case "unserved":
        return c.text(`${picked.sentence}\n`, 503);
      case "target": {
        const { path, raw: request } = c.req;
        const route = path.replace(/\/message$/, "");
        return door({
          request,
          route,
          principal: LOCAL,
          target: picked.target,
          limits,
          ...c.get("backing"),
          waitUntil: (promise) => c.executionCtx.waitUntil(promise),
        });
      }
    }
  };
}

function welcome(origin: string): string {
  return `Edgeway ${version}, an MCP gateway.

MCP endpoint (Streamable HTTP, every revision):  ${origin}/mcp
For clients of 2024-11-05 (HTTP+SSE):            ${origin}/sse
`;
}
