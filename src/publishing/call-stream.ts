/** The response to one request at a published server, or its standalone GET stream: a stream of events. */

import { PushStream } from "../lib/push-stream.ts";
import type { RequestId } from "../protocol/json-rpc.ts";
import { encodeEvent, SSE_HEADERS } from "../protocol/sse.ts";

export interface CallStreamOptions {
  readonly windowBytes: number;
  /** Called when the reader has gone before the stream ended. */
  readonly onGone: () => void;
}

export class CallStream {
  readonly response: Response;
  readonly #stream: PushStream;

  constructor({ windowBytes, onGone }: CallStreamOptions) {
    this.#stream = new PushStream({ windowBytes, onCancel: onGone });
    this.response = new Response(this.#stream.body, { headers: SSE_HEADERS });
  }

  /** @param text of one JSON-RPC message. */
  send(text: string): void {
    this.#stream.enqueue(encodeEvent({ data: text }));
  }

  end(): void {
    this.#stream.close();
  }
}

/** A request that the local server has not answered yet. */
export interface CallInFlight {
  readonly stream: Pick<CallStream, "send" | "end">;
  /** As the gateway's connector sent it, which gets it back. */
  readonly id: RequestId;
  readonly progressToken: RequestId | undefined;
  readonly method: string;
}
