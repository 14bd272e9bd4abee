/**
 * Protected-resource metadata (RFC 9728): where to get a token for an endpoint. Each endpoint has
 * its document, with the address of that endpoint as its client has it: clients compare the two.
 */

import type { AuthContext } from "../context/context.ts";
import { type Resource, resourcePath } from "../resources.ts";
import type { Authority } from "../oauth/engine/authority.ts";
import { noSuchResource } from "./challenge.ts";

const METADATA_PATH = "/.well-known/oauth-protected-resource";

/** What is behind an endpoint's path: `/sse` leads to the same as `/mcp`. */
export function resourceAt({ resources }: Authority, endpoint: string): Resource | undefined {
  const path = resourcePath(endpoint);
  return path === undefined ? undefined : resources.find((resource) => resource.path === path);
}

export function metadataUrl(origin: string, endpoint: string): string {
  return `${origin}${METADATA_PATH}${endpoint}`;
}

/**
 * Answers what is asked below `METADATA_PATH`. At the path itself is the document of `/mcp`: a
 * client that was given nothing but our origin looks there (RFC 9728 section 3.1).
 */
export function describeResource(
  { origin, authority }: Pick<AuthContext, "origin" | "authority">,
  { url, method }: Request,
): Response {
  const endpoint = new URL(url).pathname.slice(METADATA_PATH.length) || "/mcp";
  const resource = resourceAt(authority, endpoint);
  if (resource === undefined) return noSuchResource();
  if (method !== "GET" && method !== "HEAD") {
    const body = { error: "method_not_allowed" };
    return Response.json(body, { status: 405, headers: { Allow: "GET, HEAD" } });
  }
  const document = {
    resource: origin + endpoint,
    authorization_servers: [origin],
    // What a client should ask for: some ask for all that is listed.
    scopes_supported: resource.scopes.slice(0, 1),
    bearer_methods_supported: ["header"],
    resource_name: resource.slug === undefined ? "Edgeway" : `Edgeway: ${resource.slug}`,
  };
  return Response.json(document, { headers: { "Cache-Control": "public, max-age=60" } });
}

/** Everything else that a client may guess at below `/.well-known/`. */
export function nothingWellKnown(): Response {
  const body = { error: "not_found", error_description: "There is no such document" };
  return Response.json(body, { status: 404, headers: { "Cache-Control": "no-store" } });
}
