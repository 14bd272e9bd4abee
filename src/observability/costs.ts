/**
 * Counts the units that the platform bills, where they occur. There is one table for each isolate, which
 * is the whole gateway in local use.
 */

export interface Costs {
  /** Durable Objects that came to life. */
  objectsConstructed: number;
  /** Calls of Durable Objects. */
  objectRequests: number;
  /**
   * Calls of the registry that the clock is the reason for: one in five seconds at most, and one a second
   * while somebody asks for what is not known.
   */
  renewals: number;
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
  renewals: 0,
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

/** The counts since the isolate started. */
export function readCosts(): Readonly<Costs> {
  return { ...costs };
}
