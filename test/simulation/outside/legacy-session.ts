/** A session over Streamable HTTP, as a client of the session era holds it: requests, streams and their places. */

import type { Json } from "./actor.ts";
import type { Door } from "./door.ts";
import { eventReader, isEventStream, type ServerSentEvent } from "./sse.ts";

/** What came of reading a response. */
export interface ReadResult {
  /** The answer that was waited for was among it. */
  readonly isOver: boolean;
  readonly lastEventId?: string | undefined;
}

export class LegacySession {
  readonly #door: Door;
  #headers: Record<string, string>;

  /** @param headers of a session that is open already. */
  constructor(door: Door, headers: Record<string, string> = {}) {
    this.#door = door;
    this.#headers = headers;
  }

  /** The headers of each of its requests. */
  get headers(): Readonly<Record<string, string>> {
    return this.#headers;
  }

  /** @returns true when there is a session now. */
  async initialize(params: { readonly protocolVersion: string } & Json): Promise<boolean> {
    const response = await this.post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    if (response.status !== 200) return false;
    await response.text();
    const id = response.headers.get("mcp-session-id");
    // An error has no session.
    if (id === null) return false;
    this.#headers = sessionHeaders(id, params.protocolVersion);
    return true;
  }

  post(body: Json): Promise<Response> {
    const headers = {
      ...this.#headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    return this.#door.request(this.#door.path, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
  }

  get(lastEventId?: string): Promise<Response> {
    const place = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    const headers = { ...this.#headers, accept: "text/event-stream", ...place };
    return this.#door.request(this.#door.path, { method: "GET", headers });
  }

  delete(): Promise<Response> {
    return this.#door.request(this.#door.path, { method: "DELETE", headers: this.#headers });
  }
}

export function sessionHeaders(id: string, revision: string): Record<string, string> {
  return { "mcp-session-id": id, "mcp-protocol-version": revision };
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
