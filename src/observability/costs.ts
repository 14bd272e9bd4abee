/**
 * What the gateway's operations cost, counted where they happen: the units that the platform
 * bills. One table for each isolate, which locally is the whole gateway.
 */

export interface Costs {
  /** Durable Objects that came to life. */
  objectsConstructed: number;
  /** Calls of Durable Objects. */
  objectRequests: number;
  rowsRead: number;
  rowsWritten: number;
  alarmsSet: number;
  /** Requests to upstreams. */
  outgoingRequests: number;
  /** Messages that a Durable Object got, and sent. */
  webSocketMessagesIn: number;
  webSocketMessagesOut: number;
}

export const NO_COSTS: Readonly<Costs> = {
  objectsConstructed: 0,
  objectRequests: 0,
  rowsRead: 0,
  rowsWritten: 0,
  alarmsSet: 0,
  outgoingRequests: 0,
  webSocketMessagesIn: 0,
  webSocketMessagesOut: 0,
};

const costs: Costs = { ...NO_COSTS };

export function count(name: keyof Costs, by = 1): void {
  costs[name] += by;
}

/** What was counted since the isolate started. */
export function readCosts(): Readonly<Costs> {
  return { ...costs };
}
