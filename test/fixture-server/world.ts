// What all server instances of one fixture share. The modern era builds an instance per request,
// so nothing that must outlive a request can sit in the instance.

import type { ServerEventBus } from "@modelcontextprotocol/server";

export interface World {
  /** Carries change events to modern listen streams and to legacy sessions alike. */
  readonly bus: ServerEventBus;
  /** How many test_wait calls were cancelled so far. */
  cancelledWaits: number;
  /** By name: what lets the calls of test_hold go on. */
  readonly holds: Map<string, PromiseWithResolvers<void>>;
}
