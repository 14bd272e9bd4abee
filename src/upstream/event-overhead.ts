/**
 * How much of a server-sent event is no data: comments, unknown fields, `event`, `id` and `retry`
 * (HTML Living Standard, 9.2.6). The parser drops some of these lines without buffering them, so a
 * server could keep a reader busy with one line that never ends.
 */

const DATA = /^data(?::|$)/;
/** As many characters of a line as `DATA` looks at. */
const FIELD_CHARS = 5;

export class EventOverhead {
  /** The first characters of the line that is open. */
  #head = "";
  #lineChars = 0;
  /** Of the whole lines of the event that is open. */
  #chars = 0;
  #isAfterReturn = false;

  /**
   * Counts on.
   *
   * @returns the most characters without data that an event has in this text, what came of it before
   *   included.
   */
  add(text: string): number {
    const hasReturns = text.includes("\r");
    let most = 0;
    // The second half of a line end that was cut in two is no blank line.
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
