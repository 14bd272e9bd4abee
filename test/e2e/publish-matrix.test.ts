/**
 * Servers of every revision over stdio, published from a machine: what crosses HTTP crosses `edgeway publish`. Clients
 * of a server's own revision reach it, and clients of either era a server of the other one.
 */

import { afterAll, beforeAll } from "vitest";

import { published, PublishingMachine } from "../support/laptop-command.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { CELLS } from "./matrix.ts";
import { commandOf, type Servers, slugOf, startServers, stopServers } from "./matrix-servers.ts";
import { testFeatures } from "./matrix-suite.ts";
import { REVISIONS } from "../support/revisions.ts";

const BOTH_ERAS: ReadonlySet<string> = new Set(["2025-11-25", "2026-07-28"]);

let servers: Servers;
let gateway: Server;
let machine: PublishingMachine;

beforeAll(async () => {
  servers = await startServers(sharedServers().fixture, true);
  gateway = await startGateway({ vars: { PUBLISHING: "on" }, limits: { keepAliveSeconds: 1 } });
  machine = await PublishingMachine.turnOn(`${gateway.url}/mcp`);
  const commands = REVISIONS.map((each) => [slugOf(each), commandOf(servers[each])] as const);
  await published(await machine.publishMap(Object.fromEntries(commands)), commands.length);
});

afterAll(async () => {
  await machine?.turnOff();
  await gateway?.stop();
  await stopServers(servers);
});

testFeatures(
  CELLS.filter(
    ({ client, server }) => client === server || (BOTH_ERAS.has(client) && BOTH_ERAS.has(server)),
  ),
  (server) => (transport) => `${gateway.url}/${transport}/my-${slugOf(server)}`,
);
