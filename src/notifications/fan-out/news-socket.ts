/** The Worker's end of a listener's WebSocket to its branch. */

import { CLIENT_GONE_CODE } from "../../sessions/frame.ts";
import type { Interests, News, NewsSocket } from "../../catalog/feeds.ts";
import { SocketLines } from "../../lib/socket-lines.ts";
import { settleWithin } from "../../lib/time-out.ts";
import { type ListenAnswer, interestsLine, readAnswer, readNews } from "./listen-wire.ts";

/** Longer than the branch waits for the feeds, which it asks in parallel. */
const ANSWER_MS = 15_000;

/**
 * Sends the interests, and waits for the answer, which has those that are honoured.
 *
 * @param socket not accepted yet.
 * @throws Error when the branch does not answer within `ANSWER_MS`, or closes the socket before.
 */
export async function openNewsSocket(socket: WebSocket, interests: Interests): Promise<NewsSocket> {
  const lines = new SocketLines(socket, CLIENT_GONE_CODE);
  socket.send(interestsLine(interests));
  const line = await settleWithin(lines.next(), ANSWER_MS);
  if (line === undefined) {
    lines.close();
    throw new Error("The fan-out has not answered a listener");
  }
  return new OpenNewsSocket(lines, readAnswer(line), line.length);
}

class OpenNewsSocket implements NewsSocket {
  readonly honoured: Interests;
  readonly #lines: SocketLines;
  readonly #windowChars: number;
  #takenChars = 0;

  /** @param chars the length of the answer. */
  constructor(lines: SocketLines, { honoured, windowChars }: ListenAnswer, chars: number) {
    this.#lines = lines;
    this.honoured = honoured;
    this.#windowChars = windowChars;
    this.#taken(chars);
  }

  async next(): Promise<News | undefined> {
    const line = await this.#lines.next();
    if (line === undefined) return undefined;
    this.#taken(line.length);
    return readNews(line);
  }

  close(): void {
    this.#lines.close();
  }

  #taken(chars: number): void {
    this.#takenChars += chars;
    if (this.#takenChars < this.#windowChars / 2) return;
    this.#lines.send(String(this.#takenChars));
    this.#takenChars = 0;
  }
}
