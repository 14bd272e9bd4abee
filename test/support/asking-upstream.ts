/**
 * An MCP server of 2025-11-25 over Streamable HTTP, by hand and in the test's own process, with one
 * tool: it asks its client one thing after the other, and returns the answers at the end. It
 * outlives the gateway, can be taken down by itself, and remembers over that what it was sent.
 */

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import { AskingCall, type Questioning } from "./asking-call.ts";
import type { Json } from "./clients-face.ts";
import { EventJournal, parseJournalId } from "./event-journal.ts";

export interface AskingUpstream {
  readonly url: string;
  /** The call of that name, begun or not. */
  call(name: string): AskingCall;
  /** Breaks every connection that is open, as a network does; the server lives on. */
  cut(): void;
  /** Nobody listens any more, and every session is forgotten. */
  kill(): Promise<void>;
  /** Listens again, where it did. */
  start(): Promise<void>;
  close(): Promise<void>;
}

interface Session {
  readonly id: string;
  readonly journals: Map<string, EventJournal>;
  /** Questions that are open, by their ids. */
  readonly open: Map<unknown, OpenQuestion>;
  /** Calls that run, by the ids of their requests. */
  readonly running: Map<unknown, AskingCall>;
}

interface OpenQuestion {
  readonly call: AskingCall;
  readonly settle: (response: Json) => void;
}

interface Rpc {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Json;
}

export async function startAskingUpstream(givesEventIds: boolean): Promise<AskingUpstream> {
  const sessions = new Map<string, Session>();
  const calls = new Map<string, AskingCall>();

  function callNamed(name: string): AskingCall {
    const call = calls.get(name) ?? new AskingCall();
    calls.set(name, call);
    return call;
  }

  function openSession(): Session {
    const id = randomUUID();
    const session = { id, journals: new Map(), open: new Map(), running: new Map() };
    sessions.set(id, session);
    return session;
  }

  function openJournal({ id, journals }: Session, response: ServerResponse): EventJournal {
    const journal = new EventJournal(`${id}:${journals.size}`, givesEventIds);
    journals.set(`${id}:${journals.size}`, journal);
    journal.attach(response);
    return journal;
  }

  async function run(session: Session, { id, params = {} }: Rpc, response: ServerResponse) {
    const script = params["arguments"] as Questioning;
    const call = callNamed(script.call);
    call.posts += 1;
    session.running.set(id, call);
    const journal = openJournal(session, response);
    const result = await call.run(script, {
      ask: (method, question) => {
        const questionId = `q-${randomUUID()}`;
        const answered = new Promise<Json>((settle) =>
          session.open.set(questionId, { call, settle }),
        );
        journal.append({ jsonrpc: "2.0", id: questionId, method, params: question });
        return answered;
      },
    });
    session.running.delete(id);
    journal.append({ jsonrpc: "2.0", id, result });
    journal.end();
  }

  function takeAnswer({ open }: Session, rpc: Rpc, response: ServerResponse): void {
    const question = open.get(rpc.id);
    const loss = question?.call.losses.shift();
    if (loss !== "the answer") {
      open.delete(rpc.id);
      question?.settle(rpc as Json);
    }
    if (loss === undefined) response.writeHead(202).end();
    else response.destroy();
  }

  async function post(session: Session, rpc: Rpc, response: ServerResponse): Promise<void> {
    const { id, method, params = {} } = rpc;
    if (method === undefined) takeAnswer(session, rpc, response);
    else if (id === undefined) {
      response.writeHead(202).end();
      const cancelled = method === "notifications/cancelled" ? params["requestId"] : undefined;
      session.running.get(cancelled)?.cancel();
    } else if (method === "tools/call") await run(session, rpc, response);
    else {
      response.writeHead(200, { "Content-Type": "application/json", "Mcp-Session-Id": session.id });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: RESULTS[method] ?? {} }));
    }
  }

  function get({ journals }: Session, request: IncomingMessage, response: ServerResponse): void {
    const lastEventId = request.headers["last-event-id"];
    if (typeof lastEventId !== "string") {
      // It has nothing to say that belongs to no request.
      response.writeHead(405).end();
      return;
    }
    const { id, seq } = parseJournalId(lastEventId);
    const journal = givesEventIds ? journals.get(id) : undefined;
    if (journal === undefined) response.writeHead(400).end();
    else journal.attach(response, seq);
  }

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, headers } = request;
    const rpc = method === "POST" ? (JSON.parse(await text(request)) as Rpc) : {};
    const isOpening = rpc.method === "initialize";
    const session = isOpening ? openSession() : sessions.get(String(headers["mcp-session-id"]));
    if (session === undefined) response.writeHead(404).end();
    else if (method === "POST") await post(session, rpc, response);
    else if (method === "GET") get(session, request, response);
    else response.writeHead(sessions.delete(session.id) ? 200 : 404).end();
  }

  const server = createServer((request, response) => {
    // Whoever is killed may be in the middle of a request.
    route(request, response).catch(() => response.destroy());
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;

  async function kill(): Promise<void> {
    sessions.clear();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  return {
    url: `http://localhost:${port}/mcp`,
    call: callNamed,
    cut: () => server.closeAllConnections(),
    kill,
    start: () => listen(port),
    close: kill,
  };
}

const RESULTS: Readonly<Record<string, Json>> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "asking-upstream", version: "1.0.0" },
  },
  "tools/list": { tools: [{ name: "ask", inputSchema: { type: "object" } }] },
};
