/**
 * A client of the official SDK that shows every message in the order of arrival, and what it holds
 * to resume by. Unlike those of `clients.ts` it can be killed in mid-call and followed by another.
 */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as z from "zod";

import { type Json, RECONNECTION } from "./clients-face.ts";

const CALL_TIMEOUT_MS = 120_000;
const anything = z.looseObject({});

export interface SdkSession {
  readonly id: string;
  /** Every message since the handshake that is about a call. */
  readonly messages: readonly Json[];
  /** What the SDK gave to resume by when it had so many messages. */
  tokenAfter(messages: number): string | undefined;
  /** How often it has taken up a stream. */
  readonly resumptions: number;
  callTool(params: Json, resumptionToken?: string): Promise<Json>;
  /** Breaks every connection; the session stays. */
  close(): Promise<void>;
}

/** @param sessionId of the client that went before; there is no handshake then. */
export async function connectSdk(url: string, sessionId?: string): Promise<SdkSession> {
  let resumptions = 0;
  const client = new Client({ name: "sdk-session", version: "1.0.0" }, { capabilities: {} });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    reconnectionOptions: RECONNECTION,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (response.ok && new Headers(init?.headers).has("last-event-id")) resumptions += 1;
      return response;
    },
    ...(sessionId === undefined ? {} : { sessionId }),
  });
  await client.connect(transport);
  const messages: Json[] = [];
  const tokens: (string | undefined)[] = [];
  let token: string | undefined;
  const deliver = transport.onmessage;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's hook, not an event
  transport.onmessage = (message) => {
    messages.push({ ...message });
    tokens[messages.length] = token;
    deliver?.(message);
  };
  // It comes before the message of the same event; with no message, it is that of the first event.
  const onresumptiontoken = (latest: string): void => {
    token = latest;
    tokens[messages.length] ??= latest;
  };
  return {
    id: transport.sessionId ?? "",
    messages,
    get resumptions() {
      return resumptions;
    },
    tokenAfter: (count) => tokens[count],
    callTool: (params, resumptionToken) =>
      client.request({ method: "tools/call", params }, anything, {
        timeout: CALL_TIMEOUT_MS,
        ...(resumptionToken === undefined ? { onresumptiontoken } : { resumptionToken }),
      }),
    close: () => client.close(),
  };
}
