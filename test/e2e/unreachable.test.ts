/** An operator reads in the log why a server cannot be reached, as far as the runtime reports it. */

import { createServer as createHttpServer } from "node:http";
import { createServer, type Server as NetServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, test } from "vitest";

import { freePort } from "../support/free-port.ts";
import { postTo, sessionWithId } from "../support/raw-session.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { until } from "../support/until.ts";

/** 64 characters are one too many for a part of a name: no name server is asked. */
const NO_NAME = `${"a".repeat(64)}.invalid`;
const SECRET = "Bearer-SECRET";

let gateway: Server;
const servers: NetServer[] = [];
const sockets = new Set<Socket>();

async function listen(server: NetServer): Promise<number> {
  servers.push(server);
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  const plain = await listen(createHttpServer((_, response) => response.end()));
  const silent = await listen(createServer());
  const headers = { Authorization: SECRET };
  gateway = await startGateway({
    servers: {
      refused: { url: `http://127.0.0.1:${await freePort()}/mcp?key=${SECRET}`, headers },
      nameless: { url: `http://${NO_NAME}/mcp`, headers },
      plain: { url: `https://127.0.0.1:${plain}/mcp`, headers },
      silent: { url: `http://127.0.0.1:${silent}/mcp`, headers, timeoutSeconds: 1 },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

describe("the log gives the reason why a call failed:", () => {
  test.for([
    ["refused", "unreachable", "connection refused, or closed before a response"],
    ["nameless", "unreachable", "name not resolved (the runtime's reference "],
    ["plain", "unreachable", "TLS handshake failed (the runtime's reference "],
    ["silent", "timeout", "timed out"],
  ] as const)("%s", async ([slug, reason, cause], { expect }) => {
    const body = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: "any",
        arguments: {},
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    };
    const { url, headers } = sessionWithId(`${gateway.url}/mcp/${slug}`, "");
    const { "Mcp-Session-Id": _, ...others } = headers;
    const response = await postTo(
      {
        url,
        id: "",
        headers: {
          ...others,
          "MCP-Protocol-Version": "2026-07-28",
          "Mcp-Method": "tools/call",
          "Mcp-Name": "any",
        },
      },
      body,
    );
    const answer = await response.text();
    expect(answer).toContain(`"reason":"${reason}"`);
    const line = `{"event":"upstream_failed","server":"${slug}","reason":"${reason}","cause":"${cause}`;
    await until(
      () => gateway.program.output().includes(line),
      () => gateway.program.output(),
    );
    expect(gateway.program.output() + answer).not.toContain(SECRET);
  });
});
