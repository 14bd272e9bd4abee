/**
 * What travels between a branch and the Worker that holds a listener's stream, each a text message.
 * The Worker says first what it wants to hear of, and is answered; then news comes down, and
 * acknowledgements go up: how many characters were taken since the last.
 */

import type { Interests, News } from "../../catalog/feeds.ts";

export interface ListenAnswer {
  readonly honoured: Interests;
  /** How far the branch runs ahead: the Worker acknowledges half of it at a time. */
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
