/**
 * Makes a server of both eras one of a single era, at the newest revision that a test allows: what is
 * not of its era it refuses as the official SDK of that era does, and all else passes through, as it
 * is and as it comes. A client that hangs up hangs up on the server, and the reverse.
 *
 * What a server of an older revision would not know it does not get to see, or to say.
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { isLegacyRequest } from "@modelcontextprotocol/server";

import { nodeListener } from "../fixture-server/http.ts";
import { refuseLegacy, refuseModern, refuseVersion } from "./era-refusals.ts";
import { createSseFace } from "./http-sse-face.ts";
import { OlderServer } from "./older-server.ts";
import { type LegacyRevision, SINCE_HEADER } from "./revisions.ts";
import { mapEvents } from "./sse-mapping.ts";

export type FilterOptions =
  | { readonly era: "modern" }
  | {
      readonly era: "legacy";
      /** The newest revision it speaks; any of the era by default. */
      readonly newest?: LegacyRevision;
      /** Streamable HTTP by default. */
      readonly transport?: "sse";
    };

export interface EraFilter {
  readonly url: string;
  close(): Promise<void>;
}

const HOP_BY_HOP = [
  ...["connection", "keep-alive", "transfer-encoding", "host", "content-length"],
] as const;

/** @param upstream where the server is reached over Streamable HTTP. */
export async function startEraFilter(upstream: string, options: FilterOptions): Promise<EraFilter> {
  const isOverSse = options.era === "legacy" && options.transport === "sse";
  const server = createServer(
    isOverSse
      ? createSseFace(upstream, olderServer(options))
      : nodeListener((request) => answer(request, upstream, options)),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}/${isOverSse ? "sse" : "mcp"}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(
  request: Request,
  upstream: string,
  options: FilterOptions,
): Promise<Response> {
  // Of the request that is served: the signal of a copy is deaf once the copy is collected.
  const { method, headers, signal } = request;
  const body = method === "POST" ? await request.text() : null;
  const whole = new Request(request.url, { method, headers, body });
  const isLegacy = await isLegacyRequest(whole);
  if (options.era === "modern") {
    return isLegacy ? refuseLegacy(whole) : forward(whole, upstream, signal);
  }
  if (!isLegacy) return refuseModern(whole);
  const older = olderServer(options);
  return older === undefined
    ? forward(whole, upstream, signal)
    : forwardTo(older, whole, upstream, signal);
}

function olderServer(options: FilterOptions): OlderServer | undefined {
  const newest = options.era === "legacy" ? options.newest : undefined;
  return newest === undefined ? undefined : new OlderServer(newest);
}

async function forwardTo(
  older: OlderServer,
  request: Request,
  upstream: string,
  signal: AbortSignal,
): Promise<Response> {
  const { method } = request;
  const headers = new Headers(request.headers);
  const claimed = headers.get("mcp-protocol-version");
  if (claimed !== null && claimed > older.newest) {
    // Before there was such a header, no server looked at it.
    if (older.newest >= SINCE_HEADER) return refuseVersion(older.supported);
    headers.delete("mcp-protocol-version");
  }
  const text = await request.text();
  const body = method === "POST" ? mapText(text, (message) => older.read(message)) : null;
  const response = await forward(
    new Request(request.url, { method, headers, body }),
    upstream,
    signal,
  );
  return mapMessages(response, (message) => older.say(message));
}

async function forward(request: Request, upstream: string, signal: AbortSignal): Promise<Response> {
  const { method } = request;
  const headers = withoutHops(request.headers);
  const body = method === "POST" ? await request.text() : null;
  const response = await fetch(upstream, { method, headers, signal, body, redirect: "manual" });
  return new Response(response.body, {
    status: response.status,
    headers: withoutHops(response.headers),
  });
}

function withoutHops(headers: Headers): Headers {
  const kept = new Headers(headers);
  for (const name of HOP_BY_HOP) kept.delete(name);
  return kept;
}

type MapMessage = (message: unknown) => unknown;

async function mapMessages(response: Response, map: MapMessage): Promise<Response> {
  const { status, headers, body } = response;
  if (body === null) return response;
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  return isStream
    ? new Response(
        mapEvents(body, (data) => mapText(data, map)),
        { status, headers },
      )
    : new Response(mapText(await response.text(), map), { status, headers });
}

/** A text that is no message stays as it is. */
function mapText(text: string, map: MapMessage): string {
  try {
    return JSON.stringify(map(JSON.parse(text)));
  } catch {
    return text;
  }
}
