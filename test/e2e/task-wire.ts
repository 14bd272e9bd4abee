/** Stands between the gateway and a server of 2026-07-28, and notes what the server is sent, and how it met that. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { nodeListener } from "../fixture-server/http.ts";

export interface Noted {
  readonly method: string;
  /** The tool, or the task. */
  readonly name: string | null;
  readonly status: number;
}

export interface TaskWire {
  readonly url: string;
  /** What was answered, in the order of the answers. */
  readonly noted: readonly Noted[];
  close(): Promise<void>;
}

const OF_ITS_HOP = ["connection", "content-length", "host", "keep-alive", "transfer-encoding"];

export async function startTaskWire(upstream: string): Promise<TaskWire> {
  const noted: Noted[] = [];
  const server = createServer(
    nodeListener(async (request) => {
      const { headers, method, signal } = request;
      for (const name of OF_ITS_HOP) headers.delete(name);
      const body = method === "POST" ? await request.text() : null;
      const response = await fetch(upstream, { method, headers, body, signal });
      const called = headers.get("mcp-method");
      if (called !== null) {
        noted.push({ method: called, name: headers.get("mcp-name"), status: response.status });
      }
      // Its body is not compressed any more.
      const answered = new Headers(response.headers);
      for (const name of [...OF_ITS_HOP, "content-encoding"]) answered.delete(name);
      return new Response(response.body, { status: response.status, headers: answered });
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}${new URL(upstream).pathname}`,
    noted,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
