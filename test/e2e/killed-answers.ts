/** Requests to a gateway that may be killed before it answers. */

import type { Gateway } from "../support/oauth-requests.ts";

/** The gateway was killed before it answered. */
export class Lost extends Error {}

/** @throws Lost when there is no answer. */
export async function answered<T extends { readonly status: number }>(
  request: () => Promise<T>,
): Promise<T> {
  let answer: T;
  try {
    answer = await request();
  } catch (cause) {
    throw new Lost("There was no answer", { cause });
  }
  // What stands in front of the gateway may outlive it by a moment.
  if (answer.status >= 500) throw new Lost(`The answer was ${answer.status}`);
  return answer;
}

/** What the endpoint says to a token. */
export async function statusWith({ origin, send }: Gateway, token: string): Promise<number> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const response = await send(`${origin}/mcp`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      Authorization: `Bearer ${token}`,
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": "tools/list",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta } }),
  });
  await response.body?.cancel();
  return response.status;
}
