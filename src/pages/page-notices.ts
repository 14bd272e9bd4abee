/**
 * The sentence for an action that has just succeeded: a form redirects to its page with a word for
 * it.
 */

import { seeOther } from "./respond.ts";

const NOTICES = {
  "connection-revoked": "The application is disconnected.",
  "approval-forgotten": "The approval is forgotten: you will be asked again.",
  "session-ended": "That browser is signed out.",
  "key-revoked": "The key works no more.",
  "user-disabled": "The person is disabled and signed out everywhere.",
  "user-enabled": "The person may sign in again.",
  "client-deleted": "The application is deleted, and disconnected from everybody.",
  "service-revoked": "The service client is gone, with its tokens.",
} as const;

export type Notice = keyof typeof NOTICES;

export function done(origin: string, path: string, notice: Notice): Response {
  return seeOther(`${path}?done=${notice}`, { origin });
}

/** @returns one of our sentences, whatever the query contains. */
export function noticeOf({ url }: Request): string | undefined {
  const word = new URL(url).searchParams.get("done") ?? "";
  return Object.hasOwn(NOTICES, word) ? NOTICES[word as Notice] : undefined;
}
