// Adapts node:http to the web-standard Request and Response that the SDK speaks. Bodies stream
// both ways with backpressure, and a client that hangs up aborts the signal of its Request.

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { watchFlow } from "./flow.ts";

export type FetchHandler = (request: Request) => Promise<Response>;

/** Serves a fetch handler on a node:http server. */
export function nodeListener(handle: FetchHandler): RequestListener {
  return (incoming, outgoing) => {
    // A failure here means the exchange is beyond repair: cut the connection so the client knows.
    serve(handle, incoming, outgoing).catch(() => outgoing.destroy());
  };
}

async function serve(
  handle: FetchHandler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const hangUp = new AbortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) hangUp.abort();
  });
  const request = toRequest(incoming, hangUp.signal);
  served.add(request);
  try {
    watchFlow(request, outgoing);
    await writeResponse(await handle(request), outgoing);
  } finally {
    served.delete(request);
  }
}

/** The signal of a Request hears of nothing once the Request itself is collected. */
const served = new Set<Request>();

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const method = incoming.method ?? "GET";
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  // The base only completes the path: who may call is decided from the Host header, not from here.
  const url = new URL(incoming.url ?? "/", "http://localhost");
  if (method === "GET" || method === "HEAD") return new Request(url, { method, headers, signal });
  const body = Readable.toWeb(incoming);
  return new Request(url, { method, headers, signal, body, duplex: "half" });
}

async function writeResponse(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) {
    outgoing.end();
    return;
  }
  // An event stream may stay silent for long; its client still has to see that it is open.
  outgoing.flushHeaders();
  // pipeline() waits for a slow reader and cancels the body when the client hangs up.
  await pipeline(Readable.fromWeb(response.body), outgoing);
}
