/**
 * Protected-resource metadata (RFC 9728): where to get a token for an endpoint. Each endpoint has
 * its document, with the URL of that endpoint as its client uses it: clients compare the two.
 */

import type { AuthContext } from "../context/context.ts";
import { isPublishedPath, type Resource, resourcePath } from "../resources.ts";
import type { Authority } from "../oauth/engine/authority.ts";
import { noSuchResource } from "./challenge.ts";

export const METADATA_PATH = "/.well-known/oauth-protected-resource";

/** @returns the resource behind an endpoint's path: `/sse` leads to the same as `/mcp`. */
export function resourceAt(
  { resources, isPublishingOn }: Authority,
  endpoint: string,
): Resource | undefined {
  const path = resourcePath(endpoint);
  if (path === undefined) return undefined;
  if (isPublishingOn && isPublishedPath(path)) return resources[0];
  return resources.find((resource) => resource.path === path);
}

export function metadataUrl(origin: string, endpoint: string): string {
  return `${origin}${METADATA_PATH}${endpoint}`;
}

/**
 * Serves the paths below `METADATA_PATH`. The path itself has the document of `/mcp`: a client that
 * knows only our origin looks there (RFC 9728 section 3.1).
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
  const { slug } = resource;
  const document = {
    resource: origin + endpoint,
    authorization_servers: [origin],
    // The scope that a client should request: some request all that are listed.
    scopes_supported: resource.scopes.slice(0, 1),
    bearer_methods_supported: ["header"],
    resource_name: slug === undefined ? "Edgeway" : `Edgeway: ${slug}`,
  };
  return Response.json(document, { headers: { "Cache-Control": "public, max-age=60" } });
}
