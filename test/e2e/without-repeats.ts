/** What is compared with what comes through the gateway: what a client hears of a server directly. */

import type { Client, Json } from "../support/clients-face.ts";

/**
 * What the SDK complains of when it takes up a stream that is over, as it does after an error, and the
 * server says once more what it has said since: answers, and places in streams, which the server
 * keeps as messages without a member. How many there are is a matter of time.
 */
const REPEATED = /unknown message ID|"path": \[\s*"jsonrpc"\s*\]/;

/** Without what it hears twice. Behind the gateway that would be an error. */
export function withoutRepeats(client: Client): Client {
  const isFirst = (_: Json, index: number): boolean =>
    client.repliesTo.indexOf(client.repliesTo[index]) === index;
  return {
    ...client,
    get replies() {
      return client.replies.filter(isFirst);
    },
    get errors() {
      return client.errors.filter(({ message }) => !REPEATED.test(message));
    },
  };
}
