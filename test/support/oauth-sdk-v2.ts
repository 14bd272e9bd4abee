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
  open: (url, authProvider, fetch, opens) => {
    const transport = new StreamableHTTPClientTransport(url, { authProvider, fetch });
    const info = { name: "sign-in-v2", version: "1.0.0" };
    const capabilities = opens === undefined ? {} : { elicitation: { url: {} } };
    const client = new Client(info, { capabilities, versionNegotiation: { mode } });
    if (opens !== undefined) {
      client.setRequestHandler("elicitation/create", ({ params }) => {
        if (params.mode === "url") opens(params.url);
        return { action: "accept" };
      });
    }
    return {
      connect: () => client.connect(transport),
      finish: (answer) => transport.finishAuth(answer),
      callTool: (tool) => client.callTool({ name: tool, arguments: {} }),
      close: () => client.close(),
    };
  },
}));
