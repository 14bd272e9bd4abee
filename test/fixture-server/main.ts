// The fixture MCP server: everything the conformance suite asks a server for, plus what our own
// tests need. Start it with `node test/fixture-server/main.ts [port]`; the port may also come from
// PORT, and 0 (the default) lets the system choose.

import { createServer } from "node:http";
import { createEndpoint } from "./endpoint.ts";
import { nodeListener } from "./http.ts";

const endpoint = createEndpoint();
const server = createServer(nodeListener(endpoint.fetch));

server.listen(Number(process.argv[2] ?? process.env["PORT"] ?? 0), "127.0.0.1", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("expected a TCP address");
  process.stdout.write(`listening http://localhost:${address.port}/mcp\n`);
});

// Once the sessions and sockets are gone nothing keeps the process alive, so it ends by itself.
async function stop(): Promise<void> {
  server.close();
  await endpoint.close();
  server.closeAllConnections();
}

process.once("SIGTERM", () => void stop());
process.once("SIGINT", () => void stop());
