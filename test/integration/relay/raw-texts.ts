/** Clients and servers that exchange texts, so that a test sees every digit of them. */

import type { Json, Reaction } from "../../support/scripted-upstream-script.ts";
import { CAPABILITIES_KEY, MODERN, post, Session, VERSION_KEY } from "../client.ts";
import { EventReader } from "../event-reader.ts";
import { EVENT_STREAM, JSON_TYPE, Upstream } from "../upstream.ts";

export type Era = "modern" | "legacy";

/** Numbers and texts that a parser may change. */
export const DATA = String.raw`{"n":[1187654321098765433,12345678901234567890,1e400,-0,1.0,0.10,1E5],"s":"a \"quoted\" \\ \u0001 text","__proto__":{"x":2.50},"deep":{"o":[[-0.0]]}}`;

const FORMS: Json = { elicitation: { form: {} } };

/** A client whose requests are texts. It answers forms. */
export interface TextClient {
  /** @param params without its braces. @param meta more members of `_meta`, each after a comma. */
  send(method: string, id: string, params: string, meta?: string): Promise<Response>;
  /** Of a legacy client. */
  readonly session?: Session;
}

export async function clientOf(era: Era, upstream: Upstream): Promise<TextClient> {
  return era === "modern" ? modernClient(upstream) : legacyClient(upstream);
}

export async function legacyClient(
  upstream: Upstream,
): Promise<TextClient & { readonly session: Session }> {
  const session = await Session.open(upstream.mcp, { capabilities: FORMS });
  return {
    session,
    send: (method, id, params, meta = "") => {
      const body = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${params},"_meta":{"x":1${meta}}}}`;
      return post(upstream.mcp, body, session.headers);
    },
  };
}

export function modernClient(upstream: Upstream): TextClient {
  const envelope = `"${VERSION_KEY}":"${MODERN}","${CAPABILITIES_KEY}":${JSON.stringify(FORMS)}`;
  return {
    send: (method, id, params, meta = "") => {
      const body = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${params},"_meta":{${envelope}${meta}}}}`;
      const headers = { "MCP-Protocol-Version": MODERN, "Mcp-Method": method, "Mcp-Name": "work" };
      return post(upstream.mcp, body, headers);
    },
  };
}

/** @param more members of `params`, each after a comma. */
export function call(
  client: TextClient,
  id: string,
  args: string,
  { meta = "", more = "" } = {},
): Promise<Response> {
  return client.send("tools/call", id, `"name":"work","arguments":${args}${more}`, meta);
}

/** The texts of the messages in an answer, whichever form it has. */
export async function textsIn(response: Response): Promise<readonly string[]> {
  if (response.headers.get("content-type") !== EVENT_STREAM["Content-Type"]) {
    return [await response.text()];
  }
  const events = await new EventReader(response).rest();
  return events.map(({ data }) => data).filter((data) => data !== "");
}

/** The text of the last such request at the upstream. */
export async function textSent(upstream: Upstream, method: string, count = 1): Promise<string> {
  return (await upstream.receives(method, count)).at(-1)?.text ?? "";
}

/** One server-sent event. */
export function eventText(message: string, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}data: ${message}\n\n`;
}

/** The answer to whatever was asked. */
export function resultText(result: string): string {
  return `{"jsonrpc":"2.0","id":"{{id}}","result":${result}}`;
}

export function noticeText(method: string, params: string): string {
  return `{"jsonrpc":"2.0","method":"notifications/${method}","params":${params}}`;
}

export function jsonAnswer(text: string): Reaction {
  return { headers: JSON_TYPE, pieces: [text] };
}

/** A server that meets its calls so. */
export function answering(server: Era, ...reactions: readonly Reaction[]): Promise<Upstream> {
  return Upstream.take({ server, reactions: { "tools/call": reactions } });
}
