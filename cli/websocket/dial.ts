/**
 * Opens a WebSocket (RFC 6455 section 4.1). Node 20 has no client of its own without a flag, and that of later
 * versions does not tell how a server refused.
 */

import type { ClientRequest, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

import { Broken, failureOf, NotReached } from "../http/failures.ts";
import { WebSocketConnection } from "./web-socket.ts";

export interface DialOptions {
  /** http or https. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly subprotocol: string;
  /** Of one message of the server. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly onText: (text: string) => void;
  readonly signal: AbortSignal;
}

/** The server answered with HTTP instead. */
export interface Refusal {
  readonly status: number;
  /** `WWW-Authenticate`, or "". */
  readonly challenge: string;
  /** The beginning of it. */
  readonly body: string;
}

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const MAX_BODY_CHARS = 4096;

/** @throws NotReached, Broken, or the reason of the signal. */
export async function dial(options: DialOptions): Promise<WebSocketConnection | Refusal> {
  const { url, headers, subprotocol, timeoutMs, signal } = options;
  signal.throwIfAborted();
  // Other commands start faster without them (`npm run measure`).
  const { createHash, randomBytes } = await import("node:crypto");
  const http = await (url.protocol === "https:" ? import("node:https") : import("node:http"));
  const key = randomBytes(16).toString("base64");
  const accept = createHash("sha1")
    .update(key + GUID)
    .digest("base64");
  const request = http.request(url, {
    // Without an agent of its own: that of Node knows the proxy of the environment.
    signal,
    headers: {
      ...headers,
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": key,
      "sec-websocket-protocol": subprotocol,
    },
  });
  const timer = setTimeout(() => {
    request.destroy(new NotReached(`no answer in ${timeoutMs} ms`));
  }, timeoutMs);
  try {
    const answer = await answerTo(request);
    if (!("socket" in answer)) return answer;
    const { response, socket, head } = answer;
    const wrong = mistakeIn(response, accept, subprotocol);
    if (wrong !== undefined) {
      socket.destroy();
      throw new Broken(wrong);
    }
    return new WebSocketConnection(socket, head, options.maxBytes, options.onText);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof NotReached || error instanceof Broken ? error : failureOf(error);
  } finally {
    clearTimeout(timer);
  }
}

interface Upgrade {
  readonly response: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Uint8Array;
}

function answerTo(request: ClientRequest): Promise<Upgrade | Refusal> {
  return new Promise((resolve, reject) => {
    request.once("upgrade", (response, socket, head) => resolve({ response, socket, head }));
    request.once("response", (response) => {
      readRefusal(response).then(resolve, reject);
    });
    // It may fail once more after that.
    request.on("error", reject);
    request.end();
  });
}

async function readRefusal(response: IncomingMessage): Promise<Refusal> {
  let body = "";
  for await (const text of response.setEncoding("utf8")) {
    body += text;
    if (body.length > MAX_BODY_CHARS) break;
  }
  const { statusCode: status = 0, headers } = response;
  const challenge = headers["www-authenticate"] ?? "";
  return { status, challenge, body: body.slice(0, MAX_BODY_CHARS) };
}

/** "The client MUST validate the server's response" (RFC 6455 section 4.1). */
function mistakeIn(
  { headers }: IncomingMessage,
  accept: string,
  subprotocol: string,
): string | undefined {
  if (headers.upgrade?.toLowerCase() !== "websocket") return "the upgrade is to something else";
  if (headers["sec-websocket-accept"] !== accept) return "the upgrade answers another request";
  if (headers["sec-websocket-extensions"] !== undefined) return "an extension was not offered";
  if (headers["sec-websocket-protocol"] !== subprotocol) return "the subprotocol is another one";
  return undefined;
}
