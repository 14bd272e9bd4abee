/** A session of Streamable HTTP without an SDK: a test that looks at single requests opens this. */

const REVISION = "2025-11-25";

export interface RawSession {
  readonly url: string;
  readonly id: string;
  /** What every request of the session carries. */
  readonly headers: Readonly<Record<string, string>>;
}

export const INITIALIZE = {
  jsonrpc: "2.0",
  id: "initialize",
  method: "initialize",
  params: {
    protocolVersion: REVISION,
    capabilities: { roots: {} },
    clientInfo: { name: "raw-session", version: "1.0.0" },
  },
} as const;

const HEADERS = {
  Accept: "application/json, text/event-stream",
  "Content-Type": "application/json",
} as const;

export async function openRawSession(
  url: string,
  capabilities: object = INITIALIZE.params.capabilities,
): Promise<RawSession> {
  const params = { ...INITIALIZE.params, capabilities };
  const response = await fetch(url, {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify({ ...INITIALIZE, params }),
  });
  const id = response.headers.get("mcp-session-id");
  const body = await response.text();
  if (id === null) throw new Error(`No session was opened: ${response.status} ${body}`);
  const session = sessionWithId(url, id);
  const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
  await (await postTo(session, initialized)).body?.cancel();
  return session;
}

/** @param id whatever a client may hold for a session's id. */
export function sessionWithId(url: string, id: string): RawSession {
  const headers = { ...HEADERS, "Mcp-Session-Id": id, "MCP-Protocol-Version": REVISION };
  return { url, id, headers };
}

export function postTo({ url, headers }: RawSession, message: object): Promise<Response> {
  return fetch(url, { method: "POST", headers, body: JSON.stringify(message) });
}

/**
 * Opens the session's own stream, or takes up the stream that the event is of.
 *
 * @param signal breaks the connection when it is aborted.
 */
export function getFrom(
  { url, headers }: RawSession,
  lastEventId?: string,
  signal?: AbortSignal,
): Promise<Response> {
  const resumption = lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId };
  return fetch(url, {
    headers: { ...headers, ...resumption },
    ...(signal === undefined ? {} : { signal }),
  });
}
