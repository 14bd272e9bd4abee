/** A client of 2024-11-05: one stream for all answers, and a URL to post to. */

import type { Json } from "../support/scripted-upstream-script.ts";
import { initializeMessage, post, send } from "./client.ts";
import { EventReader, type Message } from "./event-reader.ts";

export class SseSession {
  readonly stream: EventReader;
  /** Where to post, as the `endpoint` event says. */
  readonly endpoint: string;

  private constructor(stream: EventReader, endpoint: string) {
    this.stream = stream;
    this.endpoint = endpoint;
  }

  static async connect(path: string): Promise<SseSession> {
    const response = await send(path, { headers: { Accept: "text/event-stream" } });
    if (response.status !== 200) throw new Error(`No stream: ${await response.text()}`);
    const stream = new EventReader(response);
    const first = await stream.next();
    if (first?.name !== "endpoint") throw new Error(`Not an endpoint: ${JSON.stringify(first)}`);
    return new SseSession(stream, first.data);
  }

  /** Connects and shakes hands. */
  static async open(path: string, capabilities: Json = {}): Promise<SseSession> {
    const session = await SseSession.connect(path);
    await session.post(initializeMessage("2024-11-05", capabilities));
    const opening = await session.stream.message();
    if (opening.result === undefined) throw new Error(JSON.stringify(opening));
    await session.post({ method: "notifications/initialized" });
    return session;
  }

  /** Posts as such a client does: without an `Accept`. @returns status and text. */
  async post(message: Json): Promise<readonly [status: number, text: string]> {
    const response = await post(
      this.endpoint,
      { jsonrpc: "2.0", ...message },
      { Accept: undefined },
    );
    return [response.status, await response.text()];
  }

  async request(method: string, params: Json = {}, id: unknown = 1): Promise<Message> {
    await this.post({ id, method, params });
    return this.stream.message();
  }
}
