/**
 * The protected resources of the gateway: what a token is for (RFC 8707). Each MCP endpoint is one.
 * The HTTP+SSE endpoints are other transports of the same resources, so a client of 2024-11-05 that
 * knows of no resources gets a token that fits. The operator's pages are a resource of their own.
 */

import { ADMIN, covers, USE, useOf } from "./scopes.ts";

export interface Resource {
  /** The canonical identifier, as in tokens. */
  readonly id: string;
  /** The path of the endpoint, e.g. `/mcp/files`. */
  readonly path: string;
  readonly slug: string | undefined;
  /** The scopes that can be granted for it; the first one is the default. */
  readonly scopes: readonly string[];
}

/** @param slugs of all upstreams. @returns the default resource first. */
export function protectedResources(origin: string, slugs: Iterable<string>): readonly Resource[] {
  const all = [...slugs];
  return [
    {
      id: `${origin}/mcp`,
      path: "/mcp",
      slug: undefined,
      scopes: [USE, ...all.map(useOf)],
    },
    ...all.map((slug) => ({
      id: `${origin}/mcp/${slug}`,
      path: `/mcp/${slug}`,
      slug,
      scopes: [useOf(slug), USE],
    })),
    { id: `${origin}/admin`, path: "/admin", slug: undefined, scopes: [ADMIN] },
  ];
}

/** The servers' own resources: those that the first one contains. */
function partsOf(resources: readonly Resource[]): readonly Resource[] {
  return resources.filter(({ slug }) => slug !== undefined);
}

/** @returns the scope that a resource asks for, and others that do as well. */
export function enoughFor(resources: readonly Resource[], { scopes }: Resource): readonly string[] {
  const [first = ""] = scopes;
  if (first !== USE) return [first];
  // With a single server, the whole is that server.
  const [only, second] = partsOf(resources);
  return only === undefined || second !== undefined ? [first] : [first, ...only.scopes];
}

/**
 * The resource that contains another one: `/mcp` serves all that `/mcp/<slug>` does. The reverse
 * does not hold, and no resource contains the operator's pages.
 */
export function wholeOf(
  resources: readonly Resource[],
  id: string,
): { readonly id: string; readonly enough: readonly string[] } | undefined {
  const [whole] = resources;
  const isPart = partsOf(resources).some((part) => part.id === id);
  return whole === undefined || !isPart
    ? undefined
    : { id: whole.id, enough: enoughFor(resources, whole) };
}

/** @returns whether the granted scopes are enough for a resource. */
export function isEnough(granted: readonly string[], enough: readonly string[]): boolean {
  return enough.some((scope) => covers(granted, scope));
}

/**
 * The resource of a request that names none, which the server may choose (RFC 8707 section 2).
 * Clients request the scope of the challenge that they got; a client that was challenged for one
 * server of several has no use for a token for all of them, which would need more scopes.
 */
export function resourceForScopes(
  resources: readonly Resource[],
  scopes: readonly string[],
): Resource | undefined {
  const parts = partsOf(resources);
  const named = parts.filter(({ slug = "" }) => scopes.includes(useOf(slug)));
  const isOfOne = named.length === 1 && parts.length > 1 && !scopes.includes(USE);
  return isOfOne ? named[0] : resources[0];
}

/**
 * The path of the resource behind an endpoint's path: `/sse` is another transport of `/mcp`.
 *
 * @returns `undefined` for a path that is no endpoint.
 */
export function resourcePath(path: string): string | undefined {
  if (path === "/admin") return path;
  const [, rest] =
    /^\/(?:mcp|sse)((?:\/(?:[a-z0-9-]{1,24}|my-[a-z0-9][a-z0-9-]{0,31}))?)$/.exec(path) ?? [];
  return rest === undefined ? undefined : `/mcp${rest}`;
}

/**
 * The `resource` that a client means. Real clients send the origin alone, with and without a slash,
 * a slash too many at the end, or the address of the HTTP+SSE endpoint. A value never becomes a
 * resource of another origin, or one that does not exist.
 *
 * @returns the canonical identifier, or the given text when it means none of ours.
 */
export function canonicalResource(origin: string, given: string, isPublishingOn = false): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.origin !== origin || url.search !== "" || url.hash !== "") return given;
  if (url.username !== "" || url.password !== "") return given;
  // The text must be what it seems: `URL` resolves dot segments and backslashes.
  if (/[\\%]|\/\.{1,2}(?:\/|$)/.test(given)) return given;
  const path = url.pathname === "/" ? "/mcp" : resourcePath(url.pathname.replace(/\/$/, ""));
  if (path === undefined) return given;
  return origin + (isPublishingOn && isPublishedPath(path) ? "/mcp" : path);
}

/**
 * The endpoint of a server that some person publishes. It is a part of `/mcp` without a resource of its own, so
 * that nothing here depends on whether anybody publishes one of that name.
 */
export function isPublishedPath(path: string): boolean {
  return /^\/mcp\/my-[a-z0-9][a-z0-9-]{0,31}$/.test(path);
}
