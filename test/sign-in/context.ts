/** The handlers of sign-in as the routes call them, for tests that need limits of their own. */

import { loadConfig } from "../../src/config/config.ts";
import { env } from "cloudflare:workers";

import { authOf } from "../../durable-objects/authorization-server.ts";
import { accountsIn } from "../../durable-objects/accounts.ts";
import { gatewayServersIn } from "../../durable-objects/gateway-servers.ts";
import type { SiteContext } from "../../src/pages/account-context.ts";
import type { LoginStep } from "../../src/auth/trace/trace.ts";
import { serveMetadata } from "../../src/auth/oauth/endpoints/metadata.ts";
import { register } from "../../src/auth/oauth/endpoints/register.ts";
import { token } from "../../src/auth/oauth/endpoints/token.ts";
import type { Limits } from "../../src/policy/limits.ts";
import { ORIGIN } from "./gateway.ts";

export interface ContextOptions {
  readonly limits?: Partial<Limits>;
  /** Receives every step that the login doctor records. */
  readonly steps?: LoginStep[];
}

/** The surroundings of one request to the gateway under test. */
export function newContext({ limits = {}, steps = [] }: ContextOptions = {}): SiteContext {
  const loaded = loadConfig(env);
  if (!loaded.ok) throw new Error(loaded.problems.join(" "));
  const { config } = loaded;
  const { authorities, ...backing } = authOf(env, config);
  return {
    accounts: accountsIn(env, config),
    servers: gatewayServersIn(env, config),
    ...{ ...backing, origin: ORIGIN, authority: authorities.at(ORIGIN) },
    limits: { ...config.limits, ...limits },
    trace: (step) => String(steps.push(step)),
    waitUntil: () => undefined,
  };
}

const HANDLERS = {
  "/.well-known/oauth-authorization-server": serveMetadata,
  "/register": register,
  "/token": token,
};

export interface Endpoints {
  readonly origin: string;
  readonly send: (url: string, sent?: RequestInit) => Promise<Response>;
}

/** A gateway that has just these endpoints. */
export function gatewayWith(options: ContextOptions = {}): Endpoints {
  return {
    origin: ORIGIN,
    send: (url, sent) => {
      const path = new URL(url).pathname as keyof typeof HANDLERS;
      return HANDLERS[path](newContext(options), new Request(url, sent));
    },
  };
}

let people = 0;

/** Headers of a client that no limit has counted before. */
export function fromElsewhere(): { readonly "cf-connecting-ip": string } {
  people += 1;
  return { "cf-connecting-ip": `198.51.${people >> 8}.${people & 255}` };
}
