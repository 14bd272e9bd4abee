/** Sign-in with `@modelcontextprotocol/client`, in each of its ways to find the era. */

import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type VersionNegotiationMode,
} from "@modelcontextprotocol/client";

import type { SdkKind } from "./oauth-sdk.ts";

const MODES: Readonly<Record<string, VersionNegotiationMode>> = {
  "v2-legacy": "legacy",
  "v2-modern": { pin: "2026-07-28" },
  "v2-auto": "auto",
};

export const SDK_V2: readonly SdkKind[] = Object.entries(MODES).map(([name, mode]) => ({
  name,
  path: "/mcp",
  Unauthorized: UnauthorizedError,
  open: (url, authProvider, fetch) => {
    const transport = new StreamableHTTPClientTransport(url, { authProvider, fetch });
    const info = { name: "sign-in-v2", version: "1.0.0" };
    const client = new Client(info, { versionNegotiation: { mode } });
    return {
      connect: () => client.connect(transport),
      finish: (answer) => transport.finishAuth(answer),
      callTool: (tool) => client.callTool({ name: tool, arguments: {} }),
      close: () => client.close(),
    };
  },
}));
