/**
 * The servers that files of end-to-end tests have in common. Some files look at all that such a server
 * does, so each of the runner's processes has its own ones: within it one file runs after the other.
 */

import { inject } from "vitest";

import type { Bundles } from "./servers.ts";

export interface SharedServers {
  /** Origin of the gateway: `/mcp/<slug>` and `/sse/<slug>` lead to the servers below, and to the demo. */
  readonly gateway: string;
  /** Where each server is reached directly. */
  readonly fixture: string;
  readonly everything: string;
  readonly everythingSse: string;
}

declare module "vitest" {
  interface ProvidedContext {
    /** What `startGateway` starts. */
    bundles: Bundles;
    /** Of each process that runs tests. */
    sharedServers: readonly SharedServers[];
  }
}

export function sharedServers(): SharedServers {
  const own = Number(process.env["VITEST_POOL_ID"]);
  const servers = inject("sharedServers")[own - 1];
  if (servers === undefined) throw new Error(`Process ${own} of the test runner has no servers`);
  return servers;
}
