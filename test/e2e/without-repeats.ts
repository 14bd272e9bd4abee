/** The messages that a client receives from a server directly, to compare with those through the gateway. */

import type { Client, Json } from "../support/clients-face.ts";

/**
 * Errors of the SDK when it resumes a stream that has ended, as it does after an error, and the server
 * repeats what it has sent since: responses, and event ids, which the server stores as messages without
 * a member. Their number depends on timing.
 */
const REPEATED = /unknown message ID|"path": \[\s*"jsonrpc"\s*\]/;

/** The client without messages that it received twice. Through the gateway, a repeat would be an error. */
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
