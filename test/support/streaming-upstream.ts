/**
 * An MCP server of 2025-11-25 over Streamable HTTP, by hand and in the test's own process: it
 * outlives the gateway, does what a test orders, and remembers the requests it received.
 */

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import type { Json } from "./clients-face.ts";
import { EventJournal, parseJournalId } from "./event-journal.ts";
import { type Script, ScriptedCall } from "./scripted-call.ts";

/** A message that came to a session which the server knew. */
export interface Received {
  readonly session: string;
  readonly method: string;
  readonly params: Json;
}

export interface StreamingUpstream {
  readonly url: string;
  readonly received: readonly Received[];
  /** The call of that name, begun or not. */
  call(name: string): ScriptedCall;
  /** The sessions whose client has their standalone stream open. */
  readonly listeners: readonly string[];
  /** Says something on the stream of a session that belongs to no request. */
  announce(session: string, message: Json): void;
  /** As after a restart: every session id is unknown from now on, and every stream breaks. */
  forgetSessions(): void;
  close(): Promise<void>;
}

interface Session {
  readonly id: string;
  readonly journals: Map<string, EventJournal>;
  /** The stream that belongs to no request, and the connections that read it. */
  readonly news: EventJournal;
  readonly listeners: Set<ServerResponse>;
}

interface Rpc {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Json;
}

export async function startStreamingUpstream(
  { givesEventIds } = { givesEventIds: true },
): Promise<StreamingUpstream> {
  const sessions = new Map<string, Session>();
  const calls = new Map<string, ScriptedCall>();
  const received: Received[] = [];

  function callNamed(name: string): ScriptedCall {
    const call = calls.get(name) ?? new ScriptedCall();
    calls.set(name, call);
    return call;
  }

  function openJournal(session: Pick<Session, "id" | "journals">): EventJournal {
    const id = `${session.id}:${session.journals.size}`;
    const journal = new EventJournal(id, givesEventIds);
    session.journals.set(id, journal);
    return journal;
  }

  function openSession(): Session {
    const base = { id: randomUUID(), journals: new Map<string, EventJournal>() };
    const session = { ...base, news: openJournal(base), listeners: new Set<ServerResponse>() };
    sessions.set(session.id, session);
    return session;
  }

  async function post(session: Session, rpc: Rpc, response: ServerResponse): Promise<void> {
    const { id, method = "response", params = {} } = rpc;
    received.push({ session: session.id, method, params });
    if (id === undefined || rpc.method === undefined) {
      response.writeHead(202).end();
      return;
    }
    if (method !== "tools/call" || params["name"] !== "stream") {
      const result = RESULTS[method] ?? {};
      response.writeHead(200, { "Content-Type": "application/json", "Mcp-Session-Id": session.id });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      return;
    }
    const call = callNamed((params["arguments"] as Script).call);
    call.posts += 1;
    await call.run({ id, params }, () => {
      const journal = openJournal(session);
      journal.attach(response);
      return journal;
    });
  }

  function get(session: Session, request: IncomingMessage, response: ServerResponse): void {
    const lastEventId = request.headers["last-event-id"];
    if (typeof lastEventId === "string" && givesEventIds) {
      const { id, seq } = parseJournalId(lastEventId);
      const journal = session.journals.get(id);
      if (journal === undefined) response.writeHead(400).end();
      else journal.attach(response, seq);
      if (journal !== session.news) return;
    } else session.news.attach(response);
    session.listeners.add(response);
    response.on("close", () => session.listeners.delete(response));
  }

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, headers } = request;
    const rpc = method === "POST" ? (JSON.parse(await text(request)) as Rpc) : {};
    const isOpening = rpc.method === "initialize";
    const session = isOpening ? openSession() : sessions.get(String(headers["mcp-session-id"]));
    if (session === undefined) response.writeHead(404).end();
    else if (method === "POST") await post(session, rpc, response);
    else if (method === "GET") get(session, request, response);
    else {
      sessions.delete(session.id);
      response.writeHead(method === "DELETE" ? 200 : 405).end();
    }
  }

  const server = createServer((request, response) => {
    // A gateway that is killed may be in the middle of a request.
    route(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}/mcp`,
    received,
    call: callNamed,
    get listeners() {
      const heard = [...sessions.values()].filter(({ listeners }) => listeners.size > 0);
      return heard.map(({ id }) => id);
    },
    announce(session, message) {
      sessions.get(session)?.news.append({ jsonrpc: "2.0", ...message });
    },
    forgetSessions() {
      sessions.clear();
      server.closeAllConnections();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const RESULTS: Readonly<Record<string, Json>> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, logging: {}, resources: { subscribe: true } },
    serverInfo: { name: "streaming-upstream", version: "1.0.0" },
  },
  "tools/list": { tools: [{ name: "stream", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "done" }] },
};
