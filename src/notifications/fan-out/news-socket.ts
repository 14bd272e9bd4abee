/**
 * A listener's WebSocket: the messages between a branch and the Worker that holds the listener's stream,
 * and the Worker's end. The Worker sends its interests first, and the branch answers. Then the branch
 * sends news, and the Worker acknowledges: it sends the number of characters taken since the last time.
 */

import { CLIENT_GONE_CODE } from "../../sessions/frame.ts";
import type { Interests, News, NewsSocket } from "../../catalog/feeds.ts";
import { SocketLines } from "../../lib/socket-lines.ts";
import { settleWithin } from "../../lib/time-out.ts";

const HEADER = "Edgeway-Listener";
/** Longer than the branch waits for the feeds, which it asks in parallel. */
const ANSWER_MS = 15_000;

/** The first message of a branch. */
export interface ListenAnswer {
  readonly honoured: Interests;
  /** The characters that the branch sends ahead: the Worker acknowledges half of them at a time. */
  readonly windowChars: number;
}

/** The request for a listener's WebSocket. */
export function listenRequest(listener: string): Request {
  const headers = { Upgrade: "websocket", [HEADER]: listener };
  return new Request("https://branch.internal/", { headers });
}

/** @returns the listener's id in a `listenRequest`. */
export function listenerOf({ headers }: Request): string {
  return headers.get(HEADER) ?? "";
}

/**
 * Sends the interests, and waits for the answer, which has those that are honoured.
 *
 * @param socket not accepted yet.
 * @throws Error when the branch does not answer within `ANSWER_MS`, or closes the socket before.
 */
export async function openNewsSocket(socket: WebSocket, interests: Interests): Promise<NewsSocket> {
  const lines = new SocketLines(socket, CLIENT_GONE_CODE);
  socket.send(JSON.stringify(interests));
  const line = await settleWithin(lines.next(), ANSWER_MS);
  if (line === undefined) {
    lines.close();
    throw new Error("The fan-out has not answered a listener");
  }
  const { honoured, windowChars } = JSON.parse(line) as ListenAnswer;
  let takenChars = 0;
  const acknowledge = ({ length }: string): void => {
    takenChars += length;
    if (takenChars < windowChars / 2) return;
    lines.send(String(takenChars));
    takenChars = 0;
  };
  acknowledge(line);
  return {
    honoured,
    async next() {
      const line = await lines.next();
      if (line === undefined) return undefined;
      acknowledge(line);
      return JSON.parse(line) as News;
    },
    close: () => lines.close(),
  };
}
