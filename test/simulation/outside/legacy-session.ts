/** A session over Streamable HTTP, as a client of the session era holds it: requests, streams and their places. */

import type { World } from "../platform/world.ts";
import type { Json } from "./actor.ts";
import { eventReader, isEventStream, type ServerSentEvent } from "./sse.ts";

const ENDPOINT = "http://localhost:8787/mcp";

/** What came of reading a response. */
export interface ReadResult {
  /** The answer that was waited for was among it. */
  readonly isOver: boolean;
  readonly lastEventId?: string | undefined;
}

export class LegacySession {
  readonly #world: World;
  #headers: Record<string, string> = {};

  constructor(world: World) {
    this.#world = world;
  }

  /** @returns true when there is a session now. */
  async initialize(params: { readonly protocolVersion: string } & Json): Promise<boolean> {
    const response = await this.post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    if (response.status !== 200) return false;
    await response.text();
    this.#headers = {
      "mcp-session-id": response.headers.get("mcp-session-id") ?? "",
      "mcp-protocol-version": params.protocolVersion,
    };
    return true;
  }

  post(body: Json): Promise<Response> {
    const headers = {
      ...this.#headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    return this.#world.request(ENDPOINT, { method: "POST", headers, body: JSON.stringify(body) });
  }

  get(lastEventId?: string): Promise<Response> {
    const place = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    const headers = { ...this.#headers, accept: "text/event-stream", ...place };
    return this.#world.request(ENDPOINT, { method: "GET", headers });
  }

  delete(): Promise<Response> {
    return this.#world.request(ENDPOINT, { method: "DELETE", headers: this.#headers });
  }
}

/**
 * Reads a stream, or one body, until it ends or breaks.
 *
 * @param take is called with each message and its event id. @returns true when no more is wanted.
 */
export async function readMessages(
  response: Response,
  take: (message: Json, eventId?: string) => boolean,
): Promise<ReadResult> {
  if (!isEventStream(response)) {
    const text = await response.text();
    return { isOver: take(JSON.parse(text) as Json) };
  }
  let lastEventId: string | undefined;
  let isOver = false;
  const takeEvent = (event: ServerSentEvent): void => {
    if (event.id !== undefined) lastEventId = event.id;
    if (event.data !== "") isOver = take(JSON.parse(event.data) as Json, event.id) || isOver;
  };
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const eventsIn = eventReader();
  try {
    for (;;) {
      const { done, value = "" } = (await reader?.read()) ?? { done: true };
      if (done) break;
      for (const event of eventsIn(value)) takeEvent(event);
      if (isOver) break;
    }
  } catch {
    // The stream broke: what came counts.
  }
  if (isOver) void reader?.cancel().catch(() => undefined);
  return { isOver, lastEventId };
}
