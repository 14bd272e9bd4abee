/**
 * The matrix without the gateway: each client at servers of its own revision and of older ones, where
 * the two can speak to each other. So what the matrix expects is what such servers do.
 */

import { afterAll, beforeAll, describe, inject } from "vitest";

import type { Client } from "../support/clients-face.ts";
import { connectAt } from "../support/clients-at.ts";
import { test } from "../support/clients.ts";
import { isLegacy, OVER_SSE } from "../support/revisions.ts";
import { type Cell, CELLS } from "./matrix.ts";
import { FEATURES } from "./matrix-features.ts";
import { type Servers, startServers, stopServers } from "./matrix-servers.ts";
import { wireFaultsOf } from "./matrix-wire.ts";

let servers: Servers;

beforeAll(async () => {
  servers = await startServers(inject("fixture"));
});
afterAll(() => stopServers(servers));

describe.each(CELLS.filter(areAcquainted))("client of $client, server of $server", (cell) => {
  test.for(FEATURES.filter(({ applies }) => applies?.(cell) ?? true))(
    "$name",
    async ({ run, outcome, capabilities }, { expect, connect }) => {
      const doorOf = (): string => servers[cell.server].url;
      const options = capabilities === undefined ? {} : { capabilities };
      const client = await connectAt(connect, cell.client, doorOf, options);
      const connectDirect = (): Promise<Client> => connect("v2-modern", inject("fixture"));
      expect(await run(client, connectDirect, cell)).toEqual(outcome(cell));
      expect(wireFaultsOf(client, cell.client)).toEqual([]);
    },
  );
});

function areAcquainted({ client, server }: Cell): boolean {
  return (
    client === server ||
    (isLegacy(client) && isLegacy(server) && server !== OVER_SSE && server < client)
  );
}
