/** What counted operations cost, at the platform's list prices. Pure. */

import { MESSAGES_A_REQUEST, OBJECT_GB, PRICES } from "./prices.ts";

/** What was counted, for one of something. */
export interface Operations {
  /** Requests that clients sent to the Worker. Those it sends on, also by service bindings, are free. */
  readonly workerRequests: number;
  /** Calls of Durable Objects: `fetch`, methods, upgrades to a WebSocket. */
  readonly objectRequests: number;
  readonly webSocketMessagesIn: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly alarmsSet: number;
  /** How long objects were at work, in seconds; none while they sleep. */
  readonly objectSeconds: number;
}

/** Dollars for a million of what these operations are one of. An alarm that is set is a row written. */
export function dollarsPerMillion(operations: Operations): number {
  const messages = operations.webSocketMessagesIn / MESSAGES_A_REQUEST;
  return (
    operations.workerRequests * PRICES.workerRequest.perMillion +
    (operations.objectRequests + messages) * PRICES.objectRequest.perMillion +
    operations.rowsRead * PRICES.rowRead.perMillion +
    (operations.rowsWritten + operations.alarmsSet) * PRICES.rowWritten.perMillion +
    operations.objectSeconds * OBJECT_GB * PRICES.objectDuration.perMillion
  );
}

type Counted = Omit<Operations, "workerRequests" | "objectSeconds">;

/** What was counted between two reports, for each of so many. @throws Error when a count is missing. */
export function operationsOf(before: Counted, after: Counted, of: number): Counted {
  const each = (name: keyof Counted): number => {
    const difference = (after[name] - before[name]) / of;
    if (!(difference >= 0)) throw new Error(`${name} was not counted`);
    return difference;
  };
  return {
    objectRequests: each("objectRequests"),
    webSocketMessagesIn: each("webSocketMessagesIn"),
    rowsRead: each("rowsRead"),
    rowsWritten: each("rowsWritten"),
    alarmsSet: each("alarmsSet"),
  };
}
