/**
 * The response to one command: the reply alone when no notification precedes it, else a stream of
 * lines that ends with the reply.
 */

import { PushStream } from "../../lib/push-stream.ts";
import type { Call } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import type { Line, BridgeOutcome } from "./bridge.ts";

export interface AnsweringOptions {
  /** The largest backlog of notifications that the client has not read yet. */
  readonly windowBytes: number;
  /** Called when the reader of the stream has gone. */
  readonly onGone: () => void;
}

export class Answering {
  /** Resolves as soon as the form of the response is known. */
  readonly outcome: Promise<BridgeOutcome>;
  readonly #options: AnsweringOptions;
  readonly #resolve: (outcome: BridgeOutcome) => void;
  #stream: PushStream | undefined;

  constructor(options: AnsweringOptions) {
    const { promise, resolve } = Promise.withResolvers<BridgeOutcome>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.#options = options;
  }

  /** @returns when there is room for more, or the reader has gone. */
  notify(notice: Call, resumeToken?: string): Promise<void> {
    const place = resumeToken === undefined ? {} : { resumeToken };
    return this.#open().write(asLine({ notice, ...place }));
  }

  /** Ends the response. */
  reply(reply: Reply): void {
    this.#resolve({ kind: "reply", reply });
    this.#stream?.enqueue(asLine({ reply }));
    this.#stream?.close();
  }

  /** The client has gone, which the stream alone notices only at the next write. */
  abandon(): void {
    this.#stream?.abandon();
  }

  #open(): PushStream {
    if (this.#stream !== undefined) return this.#stream;
    const { windowBytes, onGone } = this.#options;
    this.#stream = new PushStream({ windowBytes, onCancel: onGone });
    this.#resolve({ kind: "stream", body: this.#stream.body });
    return this.#stream;
  }
}

function asLine(line: Line): string {
  return `${JSON.stringify(line)}\n`;
}
