/**
 * Keeps a quiet text stream alive with a filler. Only a write shows that a client has hung up: a closed
 * connection is invisible until then.
 */

export interface KeepAliveOptions {
  /** Sent before the first chunk of the source. */
  readonly preamble?: string;
  readonly filler: string;
  readonly intervalMs: number;
  /** Called when the reader has gone. */
  readonly onCancel?: () => void;
}

/**
 * Passes a stream through and adds the filler after every interval of silence, but only where
 * the bytes so far end with a blank line, so that no event is ever cut in two.
 *
 * @returns a stream that pulls from the source only as fast as it is read itself.
 */
export function withKeepAlive(
  source: ReadableStream<Uint8Array>,
  { preamble = "", filler, intervalMs, onCancel }: KeepAliveOptions,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const encoder = new TextEncoder();
  const waits = new SuccessiveWaits(intervalMs);
  /** A read may fail after the stream was cancelled; that failure is ignored. */
  function startReading(): NonNullable<typeof reading> {
    const started = reader.read();
    started.catch(() => waits.stop());
    return started;
  }

  let newlines = BLANK_LINE; // no event is incomplete at the start
  let reading: ReturnType<typeof reader.read> | undefined;

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (preamble !== "") controller.enqueue(encoder.encode(preamble));
      },
      async pull(controller) {
        reading ??= startReading();
        const chunk = await waits.within(reading);
        if (chunk === undefined) {
          // In mid-event an empty chunk takes its place: only an enqueue makes the next pull.
          controller.enqueue(newlines >= BLANK_LINE ? encoder.encode(filler) : new Uint8Array(0));
          return;
        }
        reading = undefined;
        if (chunk.done || chunk.value === undefined) {
          waits.stop();
          controller.close();
          return;
        }
        newlines = countEndingNewlines(chunk.value, newlines);
        controller.enqueue(chunk.value);
      },
      async cancel(reason) {
        waits.stop();
        onCancel?.();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

const NEWLINE = 10;
/** Newlines in a row that end an event. */
const BLANK_LINE = 2;

/** @param before the newlines at the end of earlier chunks: a chunk border may split a blank line. */
function countEndingNewlines(bytes: Uint8Array, before: number): number {
  let count = 0;
  while (count < bytes.length && bytes[bytes.length - 1 - count] === NEWLINE) count += 1;
  return count === bytes.length ? before + count : count;
}

/**
 * A time-out for waits that follow one another, with one timer for all of them: to set a timer and to clear it
 * for each event of a stream is a twentieth of the work that the event takes.
 */
class SuccessiveWaits {
  readonly #ms: number;
  #timer: number | null = null;
  /** As `performance.now()` has it: a clock that is set is no silence. */
  #until = 0;
  #giveUp: (() => void) | undefined;

  /** @param ms that each wait may take. */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** @returns `undefined` when the time is over first; the promise continues and may be awaited again. */
  within<T>(promise: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject: (reason: unknown) => void) => {
      this.#until = performance.now() + this.#ms;
      this.#giveUp = () => resolve(undefined);
      this.#timer ??= setTimeout(() => this.#check(), this.#ms);
      promise.then((value) => {
        this.#giveUp = undefined;
        resolve(value);
      }, reject);
    });
  }

  /** Leaves no timer: there is no other wait. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  #check(): void {
    this.#timer = null;
    const giveUp = this.#giveUp;
    if (giveUp === undefined) return;
    const left = this.#until - performance.now();
    if (left > 0) {
      this.#timer = setTimeout(() => this.#check(), left);
      return;
    }
    this.#giveUp = undefined;
    giveUp();
  }
}
