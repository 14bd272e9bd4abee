/** A server of one's own behind the gateway learns who calls, with the verifier of `examples/verify-caller`. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, test } from "vitest";

import { callerVerifier } from "../../examples/verify-caller/verify-caller.mjs";
import type { Json } from "../support/clients-face.ts";
import { SDK_V1 } from "../support/oauth-sdk-v1.ts";
import { SDK_V2 } from "../support/oauth-sdk-v2.ts";
import { freePort } from "../support/free-port.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { textOf } from "./outcome.ts";
import { Application } from "./sign-in-suite.ts";

interface Message {
  readonly id?: number;
  readonly method: string;
}

/** An MCP server whose one tool says who calls; a request without a good assertion gets 401. */
function startOwnServer(gateway: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createServer((request, response) => {
    const address = `http://localhost:${(server.address() as AddressInfo).port}/mcp`;
    void answer(request, response, callerVerifier(gateway, address));
  });
  return new Promise((resolve) => {
    server.listen(0, "localhost", () => {
      const { port } = server.address() as AddressInfo;
      const stop = (): Promise<void> =>
        new Promise((closed) => {
          server.closeAllConnections();
          server.close(() => closed());
        });
      resolve({ url: `http://localhost:${port}/mcp`, stop });
    });
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  callerOf: ReturnType<typeof callerVerifier>,
): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  let caller: Json;
  try {
    caller = (await callerOf(new Headers(request.headers as Record<string, string>))) as Json;
  } catch (error) {
    response.writeHead(401).end(String(error));
    return;
  }
  if (request.method !== "POST") {
    response.writeHead(405).end();
    return;
  }
  const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as Message;
  if (id === undefined) {
    response.writeHead(202).end();
    return;
  }
  const body = { jsonrpc: "2.0", id, ...answerTo(method, caller) };
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

function answerTo(method: string, caller: Json): object {
  switch (method) {
    case "initialize":
      return {
        result: {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "own", version: "1.0.0" },
        },
      };
    case "tools/list":
      return { result: { tools: [{ name: "whoami", inputSchema: { type: "object" } }] } };
    case "tools/call":
      return { result: { content: [{ type: "text", text: JSON.stringify(caller) }] } };
    default:
      return { error: { code: -32601, message: "Method not found" } };
  }
}

const KINDS = [...SDK_V1, ...SDK_V2].filter(({ name }) => name !== "v2-auto");

describe("U71 a server of one's own", () => {
  let gateway: Server;
  let own: Awaited<ReturnType<typeof startOwnServer>>;
  beforeAll(async () => {
    const port = await freePort();
    own = await startOwnServer(`http://localhost:${port}`);
    const servers = { own: { url: own.url, identity: { claims: ["name"] } } };
    gateway = await startGateway({ auth: "oauth", servers, port });
  });
  afterAll(async () => {
    await gateway.stop();
    await own.stop();
  });

  test.for(KINDS)(
    "is told who calls by an application on the SDK ($name)",
    async (kind, { expect }) => {
      const application = new Application(gateway.url, kind);
      try {
        const connection = await application.connect();
        const claims = JSON.parse(textOf(await connection.callTool("whoami"))) as Json;
        const [client] = [application.keychain.clientInformation()?.client_id];
        expect(claims).toMatchObject({
          iss: gateway.url,
          aud: own.url,
          sub: expect.stringMatching(/^u_/),
          client_id: client,
          act: { sub: client },
        });
      } finally {
        await application.close();
      }
    },
  );

  test("never gets what a client sends in the header of the assertion", async ({ expect }) => {
    const [kind] = KINDS;
    if (kind === undefined) throw new Error("There is an SDK");
    const application = new Application(gateway.url, kind);
    try {
      await application.connect();
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "by-hand", version: "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": {},
      };
      const params = { name: "whoami", arguments: {}, _meta };
      const response = await fetch(`${gateway.url}/mcp`, {
        method: "POST",
        headers: {
          ...{ Authorization: `Bearer ${application.keychain.kept?.access_token ?? ""}` },
          ...{ "Edgeway-Assertion": "e30.e30.forged", "Content-Type": "application/json" },
          ...{ Accept: "application/json, text/event-stream", "Mcp-Name": "whoami" },
          ...{ "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call" },
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      });
      const { result } = (await response.json()) as { result: { content: [{ text: string }] } };
      expect(JSON.parse(result.content[0].text)).toMatchObject({ iss: gateway.url, aud: own.url });
    } finally {
      await application.close();
    }
  });

  test("refuses who did not come through the gateway", async ({ expect }) => {
    const headers = { "Edgeway-Assertion": "e30.e30.e30" };
    const response = await fetch(own.url, { method: "POST", headers, body: "{}" });
    expect(response.status).toBe(401);
  });

  test("the keys are public, and may be cached", async ({ expect }) => {
    const headers = { Origin: "https://app.example.com" };
    const response = await fetch(`${gateway.url}/.well-known/jwks.json`, { headers });
    expect(response.headers.get("cache-control")).toBe("public, max-age=3600");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(await response.json()).toEqual({
      keys: [expect.objectContaining({ kty: "EC", crv: "P-256", alg: "ES256", use: "sig" })],
    });
  });
});
