/**
 * Counts the characters of a server-sent event that are not data: comments, unknown fields, `event`,
 * `id` and `retry` (HTML Living Standard, 9.2.6). The parser drops some of these lines without
 * buffering them, so a server could keep a reader busy with one line that never ends.
 */

const DATA = /^data(?::|$)/;
/** The number of characters of a line that `DATA` looks at. */
const FIELD_CHARS = 5;

export class EventOverhead {
  /** The first characters of the open line. */
  #head = "";
  #lineChars = 0;
  /** The characters of the whole lines of the open event. */
  #chars = 0;
  #isAfterReturn = false;

  /**
   * Counts the next text of the stream.
   *
   * @returns the largest number of non-data characters of an event in this text, including those of
   *   earlier texts.
   */
  add(text: string): number {
    const hasReturns = text.includes("\r");
    let most = 0;
    // The second half of a line end that was cut in two is not a blank line.
    let from = this.#isAfterReturn && text.startsWith("\n") ? 1 : 0;
    if (text !== "") this.#isAfterReturn = text.endsWith("\r");
    while (from < text.length) {
      const end = hasReturns ? lineEnd(text, from) : text.indexOf("\n", from);
      const stop = end === -1 ? text.length : end;
      this.#head += text.slice(from, Math.min(stop, from + FIELD_CHARS - this.#head.length));
      this.#lineChars += stop - from;
      const chars = this.#chars + (DATA.test(this.#head) ? 0 : this.#lineChars);
      most = Math.max(most, chars);
      if (end === -1) break;
      // A blank line ends the event.
      this.#chars = this.#lineChars === 0 ? 0 : chars;
      this.#head = "";
      this.#lineChars = 0;
      from = text.startsWith("\r\n", end) ? end + 2 : end + 1;
    }
    return most;
  }
}

function lineEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\n" || text[at] === "\r") return at;
  }
  return -1;
}
