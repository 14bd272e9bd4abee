/**
 * The text messages between a branch and the Worker that holds a listener's stream. The Worker sends
 * its interests first, and the branch answers. Then the branch sends news, and the Worker sends
 * acknowledgements: the number of characters taken since the last.
 */

import type { Interests, News } from "../../catalog/feeds.ts";

const HEADER = "Edgeway-Listener";

/** The request for a listener's WebSocket. */
export function listenRequest(listener: string): Request {
  const headers = { Upgrade: "websocket", [HEADER]: listener };
  return new Request("https://branch.internal/", { headers });
}

/** @returns the listener's id in a `listenRequest`. */
export function listenerOf({ headers }: Request): string {
  return headers.get(HEADER) ?? "";
}

export interface ListenAnswer {
  readonly honoured: Interests;
  /** The characters that the branch sends ahead: the Worker acknowledges half of them at a time. */
  readonly windowChars: number;
}

export function interestsLine(interests: Interests): string {
  return JSON.stringify(interests);
}

export function readInterests(line: string): Interests {
  return JSON.parse(line) as Interests;
}

export function answerLine(answer: ListenAnswer): string {
  return JSON.stringify(answer);
}

export function readAnswer(line: string): ListenAnswer {
  return JSON.parse(line) as ListenAnswer;
}

export function newsLine(news: News): string {
  return JSON.stringify(news);
}

export function readNews(line: string): News {
  return JSON.parse(line) as News;
}
