/**
 * A readable stream that is written to from outside, with back-pressure: a write resolves when the reader
 * has room for more. The queue holds at most the window and one write.
 */

export interface PushStreamOptions {
  /** The most bytes that the writer may be ahead of the reader. */
  readonly windowBytes: number;
  /** Called once when the reader has gone, but not after `close`. */
  readonly onCancel?: () => void;
  /** Called when the reader has taken bytes. */
  readonly onRoom?: () => void;
}

export class PushStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #encoder = new TextEncoder();
  readonly #onCancel: (() => void) | undefined;
  #controller: ReadableByteStreamController | undefined;
  #waiting: (() => void)[] = [];

  constructor({ windowBytes, onCancel, onRoom }: PushStreamOptions) {
    this.#onCancel = onCancel;
    // A byte stream, since only those cross from a Durable Object to a Worker.
    this.body = new ReadableStream(
      {
        type: "bytes",
        start: (controller: ReadableByteStreamController) => {
          this.#controller = controller;
        },
        pull: () => {
          this.#release();
          onRoom?.();
        },
        cancel: () => this.#cancelled(),
      },
      { highWaterMark: windowBytes },
    );
  }

  get isOpen(): boolean {
    return this.#controller !== undefined;
  }

  /** True when the reader is behind by more than the window. */
  get isFull(): boolean {
    return (this.#controller?.desiredSize ?? 1) <= 0;
  }

  /** Writes at once, even without room. A stream that has ended ignores the text. */
  enqueue(text: string): void {
    this.#controller?.enqueue(this.#encoder.encode(text));
  }

  /** Writes, and resolves when there is room for more. */
  async write(text: string): Promise<void> {
    this.enqueue(text);
    await this.hasRoom();
  }

  /** Resolves when there is room, or the reader has gone. */
  async hasRoom(): Promise<void> {
    while (this.isFull) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /**
   * The reader has gone, which over RPC the stream notices only with its next write. It ends for whatever
   * still reads it: the platform reads on to carry it over RPC, and would otherwise keep it, with all
   * of its buffers, for as long as its holder lives.
   */
  abandon(): void {
    if (!this.isOpen) return;
    this.close();
    this.#onCancel?.();
  }

  close(): void {
    const controller = this.#controller;
    this.#controller = undefined;
    this.#release();
    controller?.close();
    // A BYOB reader gets its buffer back; otherwise it would wait for ever.
    controller?.byobRequest?.respond(0);
  }

  #cancelled(): void {
    if (!this.isOpen) return;
    this.#controller = undefined;
    this.#release();
    this.#onCancel?.();
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
