/** What the tests of the matrix share: the servers behind one gateway, and what is tried in a cell. */

import { afterAll, beforeAll, describe } from "vitest";

import type { Client } from "../support/clients-face.ts";
import { connectAt } from "../support/clients-at.ts";
import { test } from "../support/clients.ts";
import type { Revision } from "../support/revisions.ts";
import type { Server } from "../support/servers.ts";
import { sharedServers } from "../support/shared-servers.ts";
import type { Cell } from "./matrix.ts";
import { FEATURES } from "./matrix-features.ts";
import {
  type Servers,
  slugOf,
  startGatewayTo,
  startServers,
  stopServers,
} from "./matrix-servers.ts";
import { wireFaultsOf } from "./matrix-wire.ts";

/** Where a client of a transport finds the server of a revision. */
export type EndpointTo = (server: Revision) => (transport: "mcp" | "sse") => string;

/** Runs the servers and one gateway before them, for the tests of the file. */
export function throughGateway(): EndpointTo {
  let servers: Servers;
  let gateway: Server;
  beforeAll(async () => {
    servers = await startServers(sharedServers().fixture);
    gateway = await startGatewayTo(servers);
  });
  afterAll(async () => {
    await gateway.stop();
    await stopServers(servers);
  });
  return (server) => (transport) => `${gateway.url}/${transport}/${slugOf(server)}`;
}

/** Every feature that can be tried in one of these cells is a test. */
export function testFeatures(cells: readonly Cell[], endpointTo: EndpointTo): void {
  describe.each(cells)("client of $client, server of $server", (cell) => {
    test.for(FEATURES.filter(({ applies }) => applies?.(cell) ?? true))(
      "$name",
      async ({ run, outcome, capabilities }, { expect, connect }) => {
        const options = capabilities === undefined ? {} : { capabilities };
        const client = await connectAt(connect, cell.client, endpointTo(cell.server), options);
        const connectDirect = (): Promise<Client> => connect("v2-modern", sharedServers().fixture);
        expect(await run(client, connectDirect, cell)).toEqual(outcome(cell));
        expect(wireFaultsOf(client, cell.client)).toEqual([]);
      },
    );
  });
}
