/**
 * The matrix without the gateway: each client at servers of its own revision and of older ones, where
 * the two can speak to each other. So what the matrix expects is what such servers do.
 */

import { afterAll, beforeAll } from "vitest";

import { isLegacy, OVER_SSE } from "../support/revisions.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { type Cell, CELLS } from "./matrix.ts";
import { type Servers, startServers, stopServers } from "./matrix-servers.ts";
import { testFeatures } from "./matrix-suite.ts";

let servers: Servers;

beforeAll(async () => {
  servers = await startServers(sharedServers().fixture);
});
afterAll(() => stopServers(servers));

testFeatures(CELLS.filter(areAcquainted), (server) => () => servers[server].url);

function areAcquainted({ client, server }: Cell): boolean {
  return (
    client === server ||
    (isLegacy(client) && isLegacy(server) && server !== OVER_SSE && server < client)
  );
}
