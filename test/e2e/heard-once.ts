/** What is compared with what comes through the gateway: what a client hears of a server directly. */

import type { Client, Json } from "../support/clients-face.ts";

/**
 * Without what it hears twice: a stream of a server's that the SDK takes up when it is over brings the
 * last answer again, and the SDK complains of it. Behind the gateway that would be an error.
 */
export function heardOnce(client: Client): Client {
  const isFirst = (_: Json, index: number): boolean =>
    client.repliesTo.indexOf(client.repliesTo[index]) === index;
  return {
    ...client,
    get replies() {
      return client.replies.filter(isFirst);
    },
    get errors() {
      return client.errors.filter(({ message }) => !message.includes("unknown message ID"));
    },
  };
}
