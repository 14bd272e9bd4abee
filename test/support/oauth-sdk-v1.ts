/** Sign-in with `@modelcontextprotocol/sdk`, over both of its transports. */

import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import type { SdkConnection, SdkKind } from "./oauth-sdk.ts";

export const SDK_V1: readonly SdkKind[] = [
  {
    name: "v1-http",
    path: "/mcp",
    Unauthorized: UnauthorizedError,
    open: (url, authProvider, fetch) =>
      connection(new StreamableHTTPClientTransport(url, { authProvider, fetch })),
  },
  {
    name: "v1-sse",
    path: "/sse",
    Unauthorized: UnauthorizedError,
    open: (url, authProvider, fetch) =>
      connection(new SSEClientTransport(url, { authProvider, fetch })),
  },
];

function connection(transport: StreamableHTTPClientTransport | SSEClientTransport): SdkConnection {
  const client = new Client({ name: "sign-in-v1", version: "1.0.0" });
  return {
    connect: () => client.connect(transport),
    // RFC 9207: SDK 1 leaves `iss` to the application.
    finish: (answer) => transport.finishAuth(answer.get("code") ?? ""),
    callTool: (name) => client.callTool({ name, arguments: {} }),
    close: () => client.close(),
  };
}
