/**
 * A client's stream, held open by the Worker and fed by the session's object. When the object sleeps, is
 * moved or restarts, the Worker resumes after the last event that arrived, and the client notices
 * nothing.
 */

import { type Backoff, pauseMs } from "../lib/backoff.ts";
import { sleep } from "../lib/sleep.ts";
import { RECONNECT_CODE } from "../lib/socket-lines.ts";
import { type EventFrame, parseFrame } from "../sessions/frame.ts";
import { eventStream } from "./answers.ts";
import { openClientStream } from "./client-stream.ts";
import type { FoundSession } from "./client-session.ts";
import type { FrontDoorContext } from "./front-door.ts";
import { type FrameSource, socketSource } from "./frame-source.ts";
import { StandaloneStreamWatch } from "./standalone-stream-watch.ts";

const MAX_ATTEMPTS = 12;
const BACKOFF: Backoff = { firstMs: 50, maxMs: 5000 };
const MIN_LIFE_MS = 1000;

export interface HeldStreamOptions {
  readonly session: FoundSession;
  /** The connection to the session's object: a WebSocket, or the answer to a call. */
  readonly source: WebSocket | FrameSource;
  /** When the client opened the stream, in milliseconds since 1970 by the session's object. */
  readonly openedAt: number;
  /** The id of the last event that the client has. */
  readonly after?: string | undefined;
  /** The event id to resume from if the stream breaks before its first frame. */
  readonly start?: string | undefined;
  /** Sent to the client when a stream that owes it an answer cannot be resumed. */
  readonly closingMessage?: string | undefined;
  /** Sent before any event of the session. */
  readonly preamble?: string;
  /** Encodes an event for the transport; `undefined` for an event that this client does not get. */
  readonly encode: (event: EventFrame) => string | undefined;
}

export function holdStream(context: FrontDoorContext, options: HeldStreamOptions): Response {
  const held = new HeldStream(context, options);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const text = await held.next();
        if (text === undefined) controller.close();
        else controller.enqueue(encoder.encode(text));
      },
      cancel: () => held.close(),
    },
    { highWaterMark: 0 },
  );
  const { preamble = "" } = options;
  return eventStream(body, context.limits.keepAliveSeconds, { preamble });
}

class HeldStream {
  readonly #context: FrontDoorContext;
  readonly #options: HeldStreamOptions;
  readonly #watch: StandaloneStreamWatch;
  readonly #closing = new AbortController();
  #source: FrameSource;
  /** The id of the last event that arrived: the stream resumes after it. */
  #position: string | undefined;
  #attachedAt = 0;
  /** Characters of the frames that the client got last. */
  #givenChars = 0;

  constructor(context: FrontDoorContext, options: HeldStreamOptions) {
    this.#context = context;
    this.#options = options;
    // It is taken up anew, and the session's object watches the servers by itself.
    const onFailed = (): void => this.#source.close(RECONNECT_CODE);
    this.#watch = new StandaloneStreamWatch(context, options.session, onFailed);
    const { source, after } = options;
    this.#position = after;
    this.#source = source instanceof WebSocket ? this.#over(source) : source;
  }

  /** @returns the next text for the client; `undefined` when its stream ends. */
  async next(): Promise<string | undefined> {
    while (!this.#closing.signal.aborted) {
      this.#source.taken(this.#givenChars); // the client asks for more, so it has taken these
      this.#givenChars = 0;
      const lines = await this.#source.next().catch(() => undefined);
      if (lines !== undefined) {
        const text = this.#take(lines);
        if (text !== "") return text;
        continue;
      }
      // The session's object has restarted, and watches the servers by itself now.
      this.#watch.stop();
      if (await this.#reattach()) continue;
      this.close();
      return this.#options.closingMessage;
    }
    return undefined;
  }

  /**
   * Encodes frames that arrived together as one text: where events arrive faster than the client reads
   * them, they share one read and one write.
   *
   * @returns the text for the client; "" when none of the frames is for it.
   */
  #take(lines: readonly string[]): string {
    let text = "";
    for (const line of lines) {
      this.#givenChars += line.length;
      const frame = parseFrame(line);
      if (frame.kind === "over") this.close();
      // After a resume, the object sends the place it resumed at once more.
      if (frame.kind !== "event" || frame.id === this.#position) continue;
      this.#position = frame.id;
      text += this.#options.encode(frame) ?? "";
    }
    return text;
  }

  close(): void {
    this.#closing.abort(new Error("The client has gone"));
    this.#watch.stop();
    this.#source.close();
  }

  #over(socket: WebSocket): FrameSource {
    return socketSource(socket, {
      windowChars: this.#context.limits.windowBytes,
      onControlFrame: (line) => {
        const frame = parseFrame(line);
        if (frame.kind === "watch") void this.#watch.follow(frame.request);
        else this.#watch.stop();
      },
    });
  }

  /** @returns `false` when the stream cannot be resumed, or the client has gone. */
  async #reattach(): Promise<boolean> {
    const { signal } = this.#closing;
    // A connection that breaks as soon as it is open is not reopened in a tight loop.
    const isHasty = Date.now() - this.#attachedAt < MIN_LIFE_MS;
    for (let attempt = isHasty ? 1 : 0; attempt < MAX_ATTEMPTS && !signal.aborted; attempt++) {
      if (attempt > 0) {
        await sleep(pauseMs(BACKOFF, attempt), signal).catch(() => undefined); // the client has gone
        if (signal.aborted) return false;
      }
      try {
        const { session, start, openedAt } = this.#options;
        const outcome = await openClientStream(session, {
          lastEventId: this.#position ?? start,
          openedAt,
        });
        if (outcome.kind === "socket") {
          this.#attachedAt = Date.now();
          this.#source = this.#over(outcome.socket);
          if (signal.aborted) this.#source.close();
          return true;
        }
        const isPassing = outcome.kind === "body" && [429, 503].includes(outcome.status);
        if (!isPassing) return false;
      } catch {
        // The object is restarting.
      }
    }
    return false;
  }
}
