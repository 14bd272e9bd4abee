/** A channel of a published server, with the local server behind it as a test plays it. */

import type { JsonRpcRequest, RequestId } from "../../../src/protocol/json-rpc.ts";
import { Channel, type ChannelOptions } from "../../../src/publishing/channel.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";
import { messagesOf } from "./machine.ts";

const PROTOCOL = "io.modelcontextprotocol";

export class Scene {
  readonly sent: string[] = [];
  legacy = 0;
  isConnected = true;
  readonly channel: Channel;

  constructor(options: Partial<ChannelOptions> = {}) {
    this.channel = new Channel({
      ...{ id: "one", isShared: true, isKnown: false, windowBytes: 65_536 },
      send: (body) => {
        if (this.isConnected) this.sent.push(body);
        return this.isConnected;
      },
      onLegacy: () => (this.legacy += 1),
      ...options,
    });
  }

  get messages(): readonly Json[] {
    return this.sent.map((text) => JSON.parse(text) as Json);
  }

  get last(): Json {
    return this.messages.at(-1) ?? {};
  }

  request(
    id: RequestId,
    params: Json = {},
    { method = "tools/call", signal = new AbortController().signal } = {},
  ): Response {
    const message = { jsonrpc: "2.0", id, method, params } as JsonRpcRequest;
    const response = this.channel.request(message, JSON.stringify(message), signal);
    if (response === undefined) throw new Error("Not connected");
    return response;
  }

  says(message: Json): void {
    this.channel.receive(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }
}

export function withToken(progressToken: RequestId): Json {
  return { _meta: { progressToken } };
}

export function subscribed(id: unknown): Json {
  return { _meta: { [`${PROTOCOL}/subscriptionId`]: id } };
}

/** The messages that a stream has so far: it is ended for that. */
export function soFar(scene: Scene, response: Response): Promise<readonly Json[]> {
  scene.channel.end("over");
  return messagesOf(response).then((all) => all.filter(({ error }) => error === undefined));
}
