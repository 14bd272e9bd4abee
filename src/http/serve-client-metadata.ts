/** `/oauth/client-metadata.json`: read by authorization servers, without a cookie, a login or a redirect. */

import { clientMetadataDocument, clientMetadataUrl } from "../accounts/client/client-metadata.ts";

const HEADERS = {
  "Content-Type": "application/json",
  "Cache-Control": "public, max-age=3600",
  "Access-Control-Allow-Origin": "*",
  "X-Content-Type-Options": "nosniff",
};

/**
 * @param slugs of the servers that people sign in at.
 * @returns 404 where no authorization server could reach the document.
 */
export function serveClientMetadata(
  origin: string,
  slugs: readonly string[],
  { method }: Request,
): Response {
  if (method !== "GET" && method !== "HEAD") {
    return new Response(null, { status: 405, headers: { Allow: "GET, HEAD, OPTIONS" } });
  }
  if (clientMetadataUrl(origin, "none") === undefined || slugs.length === 0) {
    return new Response(null, { status: 404, headers: { "Cache-Control": "no-store" } });
  }
  const body = JSON.stringify(clientMetadataDocument(origin, slugs, "none"));
  return new Response(method === "HEAD" ? null : body, { headers: HEADERS });
}
