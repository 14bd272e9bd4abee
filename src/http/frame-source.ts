/** Where the frames of a client's stream come from: a connection to the holder of its session. */

import { CLIENT_GONE_CODE, isControlFrame, OVER, OVER_CODE } from "../sessions/frame.ts";

export interface FrameSource {
  /**
   * The next frames: all that have come, and one at least. They are few, since who writes waits.
   *
   * @throws Error when the connection broke, or was closed here.
   */
  next(): Promise<readonly string[]>;
  /** The client has taken frames of this length, all together. */
  taken(chars: number): void;
  close(): void;
}

/**
 * Frames that come as lines of the answer to a call.
 *
 * @param onClose called when it is closed before it is over: who writes would not notice.
 */
export function lineSource(body: ReadableStream<Uint8Array>, onClose: () => void): FrameSource {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  /** The beginning of a line, in pieces: it is joined once. */
  let pieces: string[] = [];
  let isOver = false;
  return {
    async next() {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || value === undefined) throw new Error("The stream broke");
        const [head = "", ...rest] = value.split("\n");
        pieces.push(head);
        if (rest.length === 0) continue;
        const lines = [pieces.join(""), ...rest.slice(0, -1)];
        pieces = [rest.at(-1) ?? ""];
        isOver ||= lines.includes(OVER);
        return lines;
      }
    },
    taken() {
      // The stream itself holds its writer back.
    },
    close() {
      if (!isOver) onClose();
      isOver = true;
      reader.cancel().catch(() => undefined); // it may have broken by itself
    },
  };
}

export interface SocketOptions {
  /** How far its writer runs ahead: half of it is acknowledged at a time. */
  readonly windowChars: number;
  /** Takes an order as it comes, whatever is still waiting for the client. */
  readonly onControlFrame: (line: string) => void;
}

/** Frames that come over a WebSocket. */
export function socketSource(
  socket: WebSocket,
  { windowChars, onControlFrame }: SocketOptions,
): FrameSource {
  let frames: string[] = [];
  let takenChars = 0;
  let isOpen = true;
  let wake: (() => void) | undefined;
  const end = (frame?: string): void => {
    isOpen = false;
    if (frame !== undefined) frames.push(frame);
    wake?.();
  };
  socket.addEventListener("message", ({ data }) => {
    if (typeof data !== "string") return;
    if (isControlFrame(data)) {
      taken(data.length);
      onControlFrame(data);
      return;
    }
    frames.push(data);
    wake?.();
  });
  socket.addEventListener("close", ({ code }) => end(code === OVER_CODE ? OVER : undefined));
  socket.addEventListener("error", () => end());
  const taken = (chars: number): void => {
    takenChars += chars;
    if (!isOpen || takenChars < windowChars / 2) return;
    socket.send(String(takenChars));
    takenChars = 0;
  };
  socket.accept();
  return {
    taken,
    async next() {
      for (;;) {
        const come = frames;
        frames = [];
        if (come.length > 0) return come;
        if (!isOpen) throw new Error("The stream broke");
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    close() {
      if (isOpen) socket.close(CLIENT_GONE_CODE, "the client has gone");
      end();
    },
  };
}
