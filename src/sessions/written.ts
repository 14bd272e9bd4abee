/**
 * What the messages are that a session has written into its log, by how their texts begin: a log may
 * be larger than the memory, and few of its events have to be looked at.
 */

const QUESTION = /^\{"jsonrpc":"2\.0","id":"([^"\\]+)","method":/;
const WITHDRAWAL =
  /^\{"jsonrpc":"2\.0","method":"notifications\/cancelled","params":\{"requestId":"([^"\\]+)"/;

/** @returns the id of a question that the session has put to its client. */
export function idOfQuestion(data: string): string | undefined {
  return QUESTION.exec(data)?.[1];
}

/** @returns the id of the question that the session takes back. */
export function idOfWithdrawn(data: string): string | undefined {
  return WITHDRAWAL.exec(data)?.[1];
}
