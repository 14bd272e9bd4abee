/** One message to the gateway, as clients of both eras post it; and what one of 2026-07-28 says of itself. */

export const MODERN = "2026-07-28";
export const META = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/**
 * @param {string} origin
 * @param {Record<string, string>} headers
 * @param {object} message
 * @param {AbortSignal} [signal]
 */
export function post(origin, headers, message, signal) {
  return fetch(`${origin}/mcp`, {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...headers,
    },
    ...(signal === undefined ? {} : { signal }),
  });
}
