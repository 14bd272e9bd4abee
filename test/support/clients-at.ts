/**
 * Real clients held to one revision. SDK 1 always asks for its newest, so what it asks for is changed
 * on the way out; after that the SDK does by itself what it does in a session of that revision, but
 * for a header that came later.
 */

import type { Client, Connect, ConnectOptions, Json } from "./clients-face.ts";
import { isLegacy, OVER_SSE, type Revision, SINCE_HEADER } from "./revisions.ts";

/** All that a client of the revision can be asked. */
const CAPABILITIES: Readonly<Record<Revision, Json>> = {
  "2024-11-05": { sampling: {}, roots: { listChanged: true } },
  "2025-03-26": { sampling: {}, roots: { listChanged: true } },
  "2025-06-18": { sampling: {}, roots: { listChanged: true }, elicitation: {} },
  "2025-11-25": {
    ...{ sampling: {}, roots: { listChanged: true } },
    elicitation: { form: {}, url: {} },
  },
  "2026-07-28": { sampling: {}, roots: {}, elicitation: { form: {}, url: {} } },
};

/** @param endpointOf where a client of each transport finds the server. */
export function connectAt(
  connect: Connect,
  revision: Revision,
  endpointOf: (transport: "mcp" | "sse") => string,
  options: ConnectOptions = {},
): Promise<Client> {
  const all = { capabilities: CAPABILITIES[revision], ...options };
  if (!isLegacy(revision)) return connect("v2-modern", endpointOf("mcp"), all);
  const isOverSse = revision === OVER_SSE;
  return connect(isOverSse ? "v1-sse" : "v1-http", endpointOf(isOverSse ? "sse" : "mcp"), {
    ...all,
    fetch: speaking(revision, options.fetch),
  });
}

/** Hosts over stdio, which has been a transport in each revision. @param endpoint of the gateway. */
export function connectOverStdio(
  connect: Connect,
  revision: Revision,
  endpoint: string,
  options: ConnectOptions = {},
): Promise<Client> {
  const all = { capabilities: CAPABILITIES[revision], ...options };
  return isLegacy(revision)
    ? connect("v1-stdio", endpoint, { ...all, revision })
    : connect("v2-stdio-modern", endpoint, all);
}

/** A `fetch` by which a client of SDK 1 asks for this revision. */
function speaking(revision: Revision, send: typeof fetch = fetch): typeof fetch {
  return (input, init = {}) => {
    const headers = new Headers(init.headers);
    if (revision < SINCE_HEADER) headers.delete("mcp-protocol-version");
    const { body } = init;
    const isInitialize = typeof body === "string" && body.includes('"method":"initialize"');
    return send(input, {
      ...init,
      headers,
      ...(isInitialize ? { body: asking(revision, body) } : {}),
    });
  };
}

function asking(revision: Revision, body: string): string {
  const message = JSON.parse(body) as { params: Json };
  return JSON.stringify({ ...message, params: { ...message.params, protocolVersion: revision } });
}
