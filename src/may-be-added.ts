/**
 * While nobody can be asked what operators have added, a slug may be that of such a server. It is
 * unavailable then, and not unknown: an error that is final makes a client give up its session or
 * its tokens.
 */

import type { MiddlewareHandler } from "hono";

import { resourcesUnknown } from "./auth/resource/challenge.ts";
import { METADATA_PATH } from "./auth/resource/resource-metadata.ts";
import { canonicalResource, resourcePath } from "./auth/resources.ts";
import { USE, useOf } from "./auth/scopes.ts";
import type { Config } from "./config/config.ts";
import { slugsOf } from "./endpoint/endpoint.ts";
import { serversUnknownPage } from "./pages/problems.ts";
import { publishedName } from "./publishing/publisher.ts";
import { type App, originOf, type RequestContext } from "./request-context.ts";

type Step = MiddlewareHandler<App>;

export function mayBeAdded(config: Config, slug: string | undefined): boolean {
  if (config.added !== undefined || slug === undefined) return false;
  return publishedName(slug) === undefined && !slugsOf(config).includes(slug);
}

/** In front of the metadata of a protected resource (RFC 9728). */
export const withKnownResource: Step = async (c, next) => {
  const slug = slugIn(new URL(c.req.url).pathname.slice(METADATA_PATH.length));
  return isUnknown(c, [slug]) ? resourcesUnknown() : next();
};

/** In front of the question to the person: an error would reach the application by redirect. */
export const withKnownTarget: Step = async (c, next) =>
  isUnknown(c, slugsAsked(c)) ? serversUnknownPage({ origin: originOf(c) }) : next();

function isUnknown(c: RequestContext, slugs: readonly (string | undefined)[]): boolean {
  const config = c.get("config");
  return config.authMode !== "none" && slugs.some((slug) => mayBeAdded(config, slug));
}

/** The servers that an authorization request is for: by its resources, or else by its scopes. */
function slugsAsked(c: RequestContext): readonly (string | undefined)[] {
  const origin = originOf(c);
  const { searchParams } = new URL(c.req.url);
  const resources = searchParams.getAll("resource").filter((resource) => resource !== "");
  if (resources.length > 0) {
    return resources
      .map((resource) => canonicalResource(origin, resource))
      .map((id) => (id.startsWith(origin) ? slugIn(id.slice(origin.length)) : undefined));
  }
  const scopes = searchParams.get("scope")?.split(" ") ?? [];
  const prefix = useOf("");
  const ofServers = scopes.filter((scope) => scope.startsWith(prefix));
  return scopes.includes(USE) ? [] : ofServers.map((scope) => scope.slice(prefix.length));
}

/** @param endpoint a path: `/mcp/<slug>`, or `/sse/<slug>`. */
function slugIn(endpoint: string): string | undefined {
  const [, slug] = /^\/mcp\/(.+)$/.exec(resourcePath(endpoint) ?? "") ?? [];
  return slug;
}
