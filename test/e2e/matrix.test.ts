/** The matrix: every client reaches every server through one gateway, and sees what it is to see. */

import { afterAll, beforeAll, describe, inject } from "vitest";

import type { Client } from "../support/clients-face.ts";
import { connectAt } from "../support/clients-at.ts";
import { test } from "../support/clients.ts";
import type { Server } from "../support/servers.ts";
import { CELLS } from "./matrix.ts";
import { FEATURES } from "./matrix-features.ts";
import {
  type Servers,
  slugOf,
  startGatewayTo,
  startServers,
  stopServers,
} from "./matrix-servers.ts";
import { wireFaultsOf } from "./matrix-wire.ts";

let servers: Servers;
let gateway: Server;

beforeAll(async () => {
  servers = await startServers(inject("fixture"));
  gateway = await startGatewayTo(servers);
});
afterAll(async () => {
  await gateway.stop();
  await stopServers(servers);
});

describe.each(CELLS)("client of $client, server of $server", (cell) => {
  test.for(FEATURES.filter(({ applies }) => applies?.(cell) ?? true))(
    "$name",
    async ({ run, outcome, capabilities }, { expect, connect }) => {
      const doorOf = (door: string): string => `${gateway.url}/${door}/${slugOf(cell.server)}`;
      const options = capabilities === undefined ? {} : { capabilities };
      const client = await connectAt(connect, cell.client, doorOf, options);
      const connectDirect = (): Promise<Client> => connect("v2-modern", inject("fixture"));
      expect(await run(client, connectDirect, cell)).toEqual(outcome(cell));
      expect(wireFaultsOf(client, cell.client)).toEqual([]);
    },
  );
});
