/** The source of a client's frames: a connection to the session's object. */

import { lineSplitter } from "../lib/read-lines.ts";
import { CLIENT_GONE_CODE, isControlFrame, OVER, OVER_CODE } from "../sessions/frame.ts";

export interface FrameSource {
  /**
   * The next frames: all that have arrived, and at least one. They are few, since the writer waits.
   *
   * @throws Error when the connection broke, or was closed here.
   */
  next(): Promise<readonly string[]>;
  /** Acknowledges frames that the client has taken, by their total length in characters. */
  taken(chars: number): void;
  /** @param code tells the writer of a WebSocket why: the client has gone, unless it is another. */
  close(code?: number): void;
}

/**
 * Reads frames as the lines of the answer to a call.
 *
 * @param onClose called when the source is closed before its end: over RPC the writer would notice with its next write.
 */
export function lineSource(body: ReadableStream<Uint8Array>, onClose: () => void): FrameSource {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const linesIn = lineSplitter();
  let isOver = false;
  return {
    async next() {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || value === undefined) throw new Error("The stream broke");
        const lines = linesIn(value);
        if (lines.length === 0) continue;
        isOver ||= lines.includes(OVER);
        return lines;
      }
    },
    taken() {
      // The stream's own back-pressure makes the writer wait.
    },
    close() {
      if (!isOver) onClose();
      isOver = true;
      reader.cancel().catch(() => undefined); // the stream may have broken already
    },
  };
}

export interface SocketOptions {
  /** The writer may be so many characters ahead; half of them are acknowledged at a time. */
  readonly windowChars: number;
  /** Called for a control frame as soon as it arrives, ahead of the frames that wait for the client. */
  readonly onControlFrame: (line: string) => void;
}

/** Reads frames from a WebSocket. */
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
        const arrived = frames;
        frames = [];
        if (arrived.length > 0) return arrived;
        if (!isOpen) throw new Error("The stream broke");
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    close(code = CLIENT_GONE_CODE) {
      if (isOpen) socket.close(code, "closed by the reader");
      end();
    },
  };
}
