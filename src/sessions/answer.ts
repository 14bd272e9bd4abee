/**
 * The answer to one POST, while it is being made: one JSON body if the reply comes first and
 * comes soon; a stream as soon as anything precedes it, or it takes its time.
 */

import { ErrorCode } from "../protocol/error-codes.ts";
import type { JsonRpcResponse, RequestId } from "../protocol/json-rpc.ts";
import { type Opened, type Outcome, refuse } from "./outcome.ts";
import type { SessionStream } from "./session-stream.ts";

export type OpenStream = () => { readonly stream: SessionStream } & Opened;

export class Answer {
  /** Settles as soon as it is known which form the answer takes. */
  readonly outcome: Promise<Outcome>;
  readonly #resolve: (outcome: Outcome) => void;
  readonly #openStream: OpenStream;
  readonly #timer: number;
  #stream: SessionStream | undefined;

  constructor(openStream: OpenStream, streamAfterMs: number) {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.#openStream = openStream;
    this.#timer = setTimeout(() => this.open(), streamAfterMs);
  }

  /** Commits to a stream. */
  open(): SessionStream {
    if (this.#stream !== undefined) return this.#stream;
    clearTimeout(this.#timer);
    const { stream, ...opened } = this.#openStream();
    this.#stream = stream;
    this.#resolve({ kind: "stream", ...opened });
    return stream;
  }

  /** Gives one reply; a JSON body has room for only one. */
  async reply(body: JsonRpcResponse): Promise<void> {
    if (this.#stream === undefined) this.#resolve({ kind: "json", body });
    else await this.#stream.send(body);
  }

  /** Closes the connection but not the stream: the client comes back for the rest. */
  release(): void {
    this.#stream?.release();
  }

  /** Nothing more will come. @param id of a request that was cancelled, if no reply was given. */
  end(id: RequestId | undefined): void {
    clearTimeout(this.#timer);
    this.#stream?.end();
    this.#resolve(refuse(400, ErrorCode.InvalidRequest, "The request was cancelled", id));
  }
}
