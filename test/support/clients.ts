/** `test` with real clients: `connect` opens one, and all are closed when the test is over. */

import { test as base } from "vitest";

import type { Client, Connect, Kind } from "./clients-face.ts";
import { connectV1 } from "./clients-v1.ts";
import { connectV2 } from "./clients-v2.ts";
import { sharedServers } from "./shared-servers.ts";

const CLOSE_MS = 5000;

// oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs off the pattern
export const test = base.extend("connect", async ({}, { onCleanup }): Promise<Connect> => {
  const clients: Client[] = [];
  onCleanup(async () => {
    await Promise.all(clients.map(leave));
  });
  return async (kind, url, options = {}) => {
    const client = await (kind === "v1-http" || kind === "v1-sse" || kind === "v1-stdio"
      ? connectV1(kind, url, options)
      : connectV2(kind, url, options));
    clients.push(client);
    return client;
  };
});

/** A test may have ended the session already, or taken down the server. */
async function leave(client: Client): Promise<void> {
  const tooLong = new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref());
  await Promise.race([client.terminate().catch(() => undefined), tooLong]);
  await client.disconnect();
}

/** Where a client of this kind finds an upstream of the gateway. */
export function endpointFor(kind: Kind, slug: string, gateway = sharedServers().gateway): string {
  return `${gateway}/${kind === "v1-sse" ? "sse" : "mcp"}/${slug}`;
}
