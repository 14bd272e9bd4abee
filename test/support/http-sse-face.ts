/**
 * The transport of 2024-11-05 in front of a server over Streamable HTTP, by the official SDK's own
 * transports on both sides: each stream is a session of its own at the server, and ends with it.
 */

import type { RequestListener, ServerResponse } from "node:http";

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";

import { RECONNECTION } from "./clients-face.ts";
import type { OlderServer } from "./older-server.ts";

const STREAM = "/sse";
const SINK = "/message";

/** @param older changes what goes over the wire, each way. */
export function createSseFace(upstream: string, older: OlderServer | undefined): RequestListener {
  const open = new Map<string, SSEServerTransport>();

  async function openStream(response: ServerResponse): Promise<void> {
    const front = new SSEServerTransport(SINK, response);
    const back = new StreamableHTTPClientTransport(new URL(upstream), {
      reconnectionOptions: RECONNECTION,
    });
    const breakOff = (): void => void front.close();
    /* oxlint-disable unicorn/prefer-add-event-listener -- the SDK's hooks, no events */
    front.onmessage = (message) => {
      const read = (older?.read(message) ?? message) as JSONRPCMessage;
      back.send(read).catch(breakOff);
    };
    back.onmessage = (message) => {
      const said = (older?.say(message) ?? message) as JSONRPCMessage;
      front.send(said).catch(breakOff);
    };
    front.onclose = () => {
      open.delete(front.sessionId);
      void leave(back);
    };
    /* oxlint-enable unicorn/prefer-add-event-listener */
    open.set(front.sessionId, front);
    await back.start();
    await front.start();
  }

  return (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    const front = open.get(searchParams.get("sessionId") ?? "");
    if (request.method === "GET" && pathname === STREAM) void openStream(response);
    else if (request.method !== "POST" || pathname !== SINK) response.writeHead(404).end();
    else if (front === undefined) response.writeHead(404).end("Session not found");
    // What was wrong with it stands in the answer already.
    else front.handlePostMessage(request, response).catch(() => undefined);
  };
}

async function leave(back: StreamableHTTPClientTransport): Promise<void> {
  await back.terminateSession().catch(() => undefined); // the server may be gone already
  await back.close();
}
