/**
 * How one order is answered: with its reply alone when nothing comes before it, else with a stream of
 * lines that ends in it.
 */

import { PushStream } from "../../lib/push-stream.ts";
import type { Call } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import type { Line, BridgeOutcome } from "./bridge.ts";

export interface AnsweringOptions {
  /** How far the server may run ahead of the client. */
  readonly windowBytes: number;
  /** The reader of the stream has gone. */
  readonly onGone: () => void;
}

export class Answering {
  /** Settles as soon as it is known which form the answer takes. */
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

  /** @returns when there is room for more, or nobody left to make any. */
  notify(notice: Call): Promise<void> {
    return this.#open().write(asLine({ notice }));
  }

  /** Nothing may follow. */
  reply(reply: Reply): void {
    this.#resolve({ kind: "reply", reply });
    this.#stream?.enqueue(asLine({ reply }));
    this.#stream?.close();
  }

  /** The client has gone, which a stream alone cannot tell before something is written. */
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
