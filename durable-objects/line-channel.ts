/**
 * The channel to a client's stream over the response body of the call: one line for each frame. The
 * platform holds back WebSocket messages until the log is durable. It does not promise that for a stream
 * that was returned before, so this channel waits for it itself.
 */

import { PushStream } from "../src/lib/push-stream.ts";
import type { Channel } from "../src/sessions/stream-reader.ts";
import { OVER } from "../src/sessions/frame.ts";

export interface LineChannelOptions {
  readonly openedAt: number;
  readonly windowBytes: number;
  /** Called when the reader has taken bytes. */
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
  /** Lines whose events are not durable yet. */
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
    // Nothing to note: the channel does not outlive the memory of its object.
  }

  close(): void {
    this.send(OVER);
    this.#isClosing = true;
  }

  /** The reader has gone, which the stream itself notices only with its next write. */
  abandon(): void {
    this.#push.abandon();
  }

  async #flush(): Promise<void> {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    while (this.#held.length > 0) {
      await Promise.resolve(); // what is sent in one turn of the event loop is one chunk
      const lines = this.#held;
      this.#held = [];
      try {
        await this.#synced();
      } catch {
        // Not durable: the reader has to resume, and gets only durable events.
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
