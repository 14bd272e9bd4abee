/** What clients of both eras say, and what is a right answer to it. */

import type { Answer } from "./answer-reader.ts";
import type { Asking } from "./load.ts";

export type Headers = Readonly<Record<string, string>>;

const LEGACY = "2025-11-25";
const MODERN = "2026-07-28";
const JSON_HEADERS: Headers = {
  "Content-Type": "application/json",
  Accept: "application/json, text/event-stream",
};
export const META = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const PATIENCE_MS = 30_000;
const TEXT = "So many cups of tea, and so little time.";

export const legacyHeaders = (session: Headers): Headers => ({
  ...{ ...JSON_HEADERS, "MCP-Protocol-Version": LEGACY },
  ...session,
});

export const modernHeaders = (method: string, name?: string): Headers => ({
  ...{ ...JSON_HEADERS, "MCP-Protocol-Version": MODERN, "Mcp-Method": method },
  ...(name === undefined ? {} : { "Mcp-Name": name }),
});

/** Calls of the tool `echo`, in a session: its headers, or none where the server keeps none. */
export function legacyCall(session: Headers): Asking {
  return echo(legacyHeaders(session), "");
}

/** Calls of the tool `echo` that carry all they need. @param more headers, as a bearer's. */
export function modernCall(more: Headers = {}): Asking {
  const meta = `,"_meta":${JSON.stringify(META)}`;
  return echo({ ...modernHeaders("tools/call", "echo"), ...more }, meta);
}

function echo(headers: Headers, meta: string): Asking {
  const params = `{"name":"echo","arguments":{"text":"${TEXT}"}${meta}}`;
  return {
    headers,
    body: (n) => `{"jsonrpc":"2.0","id":${n},"method":"tools/call","params":${params}}`,
    check(answer, n) {
      const { content } = resultIn(answer, n) as { readonly content?: readonly unknown[] };
      const [item] = content ?? [];
      if ((item as { readonly text?: unknown } | undefined)?.text !== TEXT) {
        throw new Error(`It was not an echo: ${answer.body}`);
      }
    },
  };
}

/** The result of a request, be it JSON or the last event of a stream. @throws Error if there is none. */
function resultIn({ status, head, body }: Answer, id: number): object {
  if (status !== 200) throw new Error(`It was refused with ${status}: ${body}`);
  const isStream = /^content-type: *text\/event-stream/im.test(head);
  const text = isStream ? lastDataOf(body) : body;
  const message = JSON.parse(text) as { readonly id?: unknown; readonly result?: unknown };
  const { result } = message;
  if (message.id !== id || typeof result !== "object" || result === null) {
    throw new Error(`It was not answered with a result: ${text}`);
  }
  return result;
}

function lastDataOf(events: string): string {
  const at = events.lastIndexOf("data: ");
  return at === -1 ? "" : events.slice(at + 6, events.indexOf("\n", at));
}

/** Sends one message. @throws Error when it is not taken, or not answered to its end in time. */
export async function post(url: string, headers: Headers, message: object): Promise<Response> {
  const response = await fetch(url, {
    ...{ method: "POST", headers: { ...headers } },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  if (!response.ok) throw new Error(`Refused with ${response.status}: ${await response.text()}`);
  return response;
}

/** Asks once. @throws Error when that is not answered, or with something else than it should be. */
export async function ask(url: string, asking: Asking): Promise<void> {
  const message = JSON.parse(asking.body(1)) as object;
  asking.check(await answerOf(await post(url, asking.headers, message)), 1);
}

async function answerOf(response: Response): Promise<Answer> {
  const head = `content-type: ${response.headers.get("content-type")}`;
  return { status: response.status, head, body: await response.text() };
}

/** Opens a session as clients do. @returns its headers: none where the server keeps no sessions. */
export async function openSession(url: string, more: Headers = {}): Promise<Headers> {
  const params = {
    ...{ protocolVersion: LEGACY, capabilities: {} },
    clientInfo: { name: "bench", version: "1" },
  };
  const initialize = { id: 0, method: "initialize", params };
  const opened = await post(url, { ...JSON_HEADERS, ...more }, initialize);
  resultIn(await answerOf(opened), 0);
  const id = opened.headers.get("mcp-session-id");
  const session: Headers = { ...more, ...(id === null ? {} : { "Mcp-Session-Id": id }) };
  const ready = { method: "notifications/initialized" };
  await (await post(url, legacyHeaders(session), ready)).body?.cancel();
  return session;
}
