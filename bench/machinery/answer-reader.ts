/**
 * Reads HTTP/1.1 answers off a connection that is kept alive, one after the other. It knows what the
 * servers of the benchmark send, a length or chunks, and takes a fifth of the time that a client
 * for all cases takes: the load generator shares the machine with what it measures. Pure.
 */

export interface Answer {
  readonly status: number;
  /** The header lines, as they came. */
  readonly head: string;
  /** Each character is a byte. */
  readonly body: string;
}

const END_OF_HEAD = "\r\n\r\n";
const LENGTH = /^content-length: *(\d+)/im;
const CHUNKED = /^transfer-encoding: *chunked/im;

export class AnswerReader {
  #rest = "";

  /**
   * @param bytes that have come, cut anywhere, each as a character (Latin-1), so that lengths hold.
   * @returns the answer when it is whole. @throws Error when it is no answer that can be read.
   */
  read(bytes: string): Answer | undefined {
    this.#rest += bytes;
    const headEnd = this.#rest.indexOf(END_OF_HEAD);
    if (headEnd === -1) return undefined;
    const head = this.#rest.slice(0, headEnd);
    const bodyStart = headEnd + END_OF_HEAD.length;
    const found = CHUNKED.test(head)
      ? chunksIn(this.#rest, bodyStart)
      : lengthIn(this.#rest, bodyStart, head);
    if (found === undefined) return undefined;
    // Each request waits for the answer to the one before.
    if (found.end < this.#rest.length) throw new Error("More came than was asked for");
    this.#rest = "";
    return { status: Number(head.slice(9, 12)), head, body: found.body };
  }
}

interface Found {
  readonly body: string;
  readonly end: number;
}

function lengthIn(text: string, start: number, head: string): Found | undefined {
  const length = Number(LENGTH.exec(head)?.[1] ?? "0");
  const end = start + length;
  return text.length < end ? undefined : { body: text.slice(start, end), end };
}

function chunksIn(text: string, start: number): Found | undefined {
  let body = "";
  for (let at = start; ;) {
    const lineEnd = text.indexOf("\r\n", at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    if (Number.isNaN(size)) throw new Error("A chunk has no size");
    const end = lineEnd + 2 + size + 2;
    if (text.length < end) return undefined;
    if (size === 0) return { body, end };
    body += text.slice(lineEnd + 2, lineEnd + 2 + size);
    at = end;
  }
}
