/** `/oauth/client-metadata.json`: read by authorization servers, without a cookie, a login or a redirect. */

import { clientMetadata } from "../accounts/client-metadata.ts";
import { isLoopback } from "../lib/loopback.ts";

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
  const isReachable = origin.startsWith("https:") && !isLoopback(new URL(origin).hostname);
  if (!isReachable || slugs.length === 0) {
    return new Response(null, { status: 404, headers: { "Cache-Control": "no-store" } });
  }
  const body = JSON.stringify(clientMetadata(origin, slugs));
  return new Response(method === "HEAD" ? null : body, { headers: HEADERS });
}
