// What all server instances of one fixture share. The modern era builds an instance per request,
// so nothing that must outlive a request can sit in the instance.

import { InMemoryServerEventBus, type ServerEventBus } from "@modelcontextprotocol/server";

export interface World {
  /** Carries change events to modern listen streams and to legacy sessions alike. */
  readonly bus: ServerEventBus;
  /** How many test_wait calls were cancelled so far. */
  cancelledWaits: number;
  /** By name: whether a call of test_wait has begun. */
  readonly waits: Map<string, PromiseWithResolvers<void>>;
  /** By name: what lets the calls of test_hold go on. */
  readonly holds: Map<string, PromiseWithResolvers<void>>;
}

export function newWorld(): World {
  return {
    ...{ bus: new InMemoryServerEventBus(), cancelledWaits: 0 },
    ...{ waits: new Map(), holds: new Map() },
  };
}
