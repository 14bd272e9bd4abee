/** A client of 2024-11-05: one stream for all answers, and a URL to post to. */

import type { Json } from "../support/scripted-upstream-script.ts";
import { type Headers, initializeMessage, post, send } from "./client.ts";
import { EventReader, type Message } from "./event-reader.ts";

export class SseSession {
  readonly stream: EventReader;
  /** Where to post, as the `endpoint` event says. */
  readonly endpoint: string;
  /** Sent with every request. */
  readonly headers: Headers;

  private constructor(stream: EventReader, endpoint: string, headers: Headers) {
    this.stream = stream;
    this.endpoint = endpoint;
    this.headers = headers;
  }

  static async connect(path: string, headers: Headers = {}): Promise<SseSession> {
    const response = await send(path, { headers: { Accept: "text/event-stream", ...headers } });
    if (response.status !== 200) throw new Error(`No stream: ${await response.text()}`);
    const stream = new EventReader(response);
    const first = await stream.next();
    if (first?.name !== "endpoint") throw new Error(`Not an endpoint: ${JSON.stringify(first)}`);
    // It is relative to where the stream is.
    const endpoint = path.startsWith("http") ? new URL(first.data, path).href : first.data;
    return new SseSession(stream, endpoint, headers);
  }

  /** Connects and shakes hands. */
  static async open(
    path: string,
    capabilities: Json = {},
    headers: Headers = {},
  ): Promise<SseSession> {
    const session = await SseSession.connect(path, headers);
    await session.initialize(capabilities);
    return session;
  }

  /** @throws Error when it is refused. */
  async initialize(capabilities: Json = {}): Promise<void> {
    await this.post(initializeMessage("2024-11-05", capabilities));
    const opening = await this.stream.message();
    if (opening.result === undefined) throw new Error(JSON.stringify(opening));
    await this.post({ method: "notifications/initialized" });
  }

  /** Posts as such a client does: without an `Accept`. @returns status and text. */
  async post(message: Json): Promise<readonly [status: number, text: string]> {
    const response = await post(
      this.endpoint,
      { jsonrpc: "2.0", ...message },
      { Accept: undefined, ...this.headers },
    );
    return [response.status, await response.text()];
  }

  async request(method: string, params: Json = {}, id: unknown = 1): Promise<Message> {
    await this.post({ id, method, params });
    return this.stream.message();
  }
}
