/** Hosts of every revision over stdio, before servers of their own revision: what crosses HTTP crosses `edgeway connect`. */

import { describe } from "vitest";

import type { Client } from "../support/clients-face.ts";
import { connectOverStdio } from "../support/clients-at.ts";
import { test } from "../support/clients.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { type Cell, CELLS, type Feature } from "./matrix.ts";
import { FEATURES } from "./matrix-features.ts";
import { throughGateway } from "./matrix-suite.ts";
import { wireFaultsOf } from "./matrix-wire.ts";

/** What has a way of its own through the command: the revisions in between have it in common with their neighbours. */
const ENOUGH: ReadonlySet<string> = new Set(["calls", "cancellation", "several questions at once"]);
const BETWEEN: ReadonlySet<string> = new Set(["2025-03-26", "2025-06-18"]);

const endpointTo = throughGateway();

function isTried({ name, applies }: Feature, cell: Cell): boolean {
  return (applies?.(cell) ?? true) && (ENOUGH.has(name) || !BETWEEN.has(cell.client));
}

describe.each(CELLS.filter(({ client, server }) => client === server))(
  "S1: host of $client, server of $server",
  (cell) => {
    test.for(FEATURES.filter((feature) => isTried(feature, cell)))(
      "$name",
      async ({ run, outcome, capabilities }, { expect, connect }) => {
        const options = capabilities === undefined ? {} : { capabilities };
        const url = endpointTo(cell.server)("mcp");
        const client = await connectOverStdio(connect, cell.client, url, options);
        const connectDirect = (): Promise<Client> => connect("v2-modern", sharedServers().fixture);
        expect(await run(client, connectDirect, cell)).toEqual(outcome(cell));
        expect(wireFaultsOf(client, cell.client)).toEqual([]);
      },
    );
  },
);
