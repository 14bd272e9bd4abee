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

/** @returns the headers of a new session. */
export async function openSession(/** @type {string} */ origin) {
  const clientInfo = { name: "measure", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  for (let attempt = 0; attempt < 50; attempt++) {
    const response = await post(origin, {}, { id: 1, method: "initialize", params });
    await response.text();
    const id = response.headers.get("mcp-session-id");
    if (id !== null) return { "Mcp-Session-Id": id };
    await new Promise((resolve) => setTimeout(resolve, 100)); // the fixture is still starting
  }
  throw new Error("No session could be opened");
}
