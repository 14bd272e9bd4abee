/**
 * The way to a client's stream over the answer of the call that it answers: a line for each frame.
 * What is sent to a WebSocket, the platform holds back until it is safe in the log; of a stream
 * that was handed over before, that is not written anywhere, so it is done here.
 */

import { PushStream } from "../src/lib/push-stream.ts";
import type { Channel } from "../src/sessions/stream-reader.ts";
import { OVER } from "../src/sessions/frame.ts";

export interface LineChannelOptions {
  readonly openedAt: number;
  readonly windowBytes: number;
  /** The reader has taken something. */
  readonly onRoom: () => void;
  readonly onGone: () => void;
  /** Resolves when everything written so far is durable. */
  readonly synced: () => Promise<void>;
}

export class LineChannel implements Channel {
  readonly openedAt: number;
  readonly #push: PushStream;
  readonly #windowBytes: number;
  readonly #synced: () => Promise<void>;
  readonly #onRoom: () => void;
  /** Lines that are not safe yet. */
  #held: string[] = [];
  #heldChars = 0;
  #isFlushing = false;
  #isClosing = false;

  constructor({ openedAt, windowBytes, synced, onRoom, onGone }: LineChannelOptions) {
    this.openedAt = openedAt;
    this.#push = new PushStream({ windowBytes, onRoom, onCancel: onGone });
    this.#windowBytes = windowBytes;
    this.#synced = synced;
    this.#onRoom = onRoom;
  }

  get body(): ReadableStream<Uint8Array> {
    return this.#push.body;
  }

  get isOpen(): boolean {
    return this.#push.isOpen;
  }

  get hasRoom(): boolean {
    return !this.#push.isFull && this.#heldChars < this.#windowBytes;
  }

  send(frame: string): void {
    this.#held.push(`${frame}\n`);
    this.#heldChars += frame.length;
    void this.#flush();
  }

  sentUpTo(): void {
    // Its reader is gone when the memory of its object is.
  }

  close(): void {
    this.send(OVER);
    this.#isClosing = true;
  }

  /** The reader has gone, which the stream itself cannot tell. */
  abandon(): void {
    this.#push.abandon();
  }

  async #flush(): Promise<void> {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    while (this.#held.length > 0) {
      const lines = this.#held;
      this.#held = [];
      try {
        await this.#synced();
      } catch {
        // Not safe: the reader is to ask again, for what is.
        this.#push.close();
        return;
      }
      this.#heldChars = 0;
      for (const line of this.#held) this.#heldChars += line.length;
      this.#push.enqueue(lines.join(""));
      this.#onRoom();
    }
    this.#isFlushing = false;
    if (this.#isClosing) this.#push.close();
  }
}
