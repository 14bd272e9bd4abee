/** Stands between the gateway and an upstream, and notes every call that the upstream is sent. */

import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";

interface RecordedCall {
  readonly tool: string;
  /** What the upstream answered; 0 while, or because, it has not. */
  status: number;
}

export interface RecordingProxy {
  readonly url: string;
  readonly calls: readonly RecordedCall[];
  /** Breaks every connection that is open, as a network does; both sides live on. */
  cut(): void;
  close(): Promise<void>;
}

export async function startRecordingProxy(upstream: string): Promise<RecordingProxy> {
  const calls: RecordedCall[] = [];
  const { hostname, port, pathname } = new URL(upstream);
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const body = Buffer.concat(chunks);
      const call = recordedCall(body.toString());
      if (call !== undefined) calls.push(call);
      const headers = { ...incoming.headers, host: `${hostname}:${port}` };
      const { method, url } = incoming;
      // A connection of its own each: one that was kept would be dead after a restart.
      const to = { hostname, port, method, path: url, headers, agent: false } as const;
      const onward = forward(to, (answer) => {
        if (call !== undefined) call.status = answer.statusCode ?? 0;
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        outgoing.flushHeaders();
        answer.pipe(outgoing);
        answer.on("error", () => outgoing.destroy());
        answer.on("close", () => outgoing.destroy());
      });
      onward.on("error", () => outgoing.destroy());
      outgoing.on("close", () => onward.destroy());
      onward.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${own}${pathname}`,
    calls,
    cut: () => server.closeAllConnections(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function recordedCall(body: string): RecordedCall | undefined {
  if (!body.includes('"tools/call"')) return undefined;
  const { params } = JSON.parse(body) as { params: { name: string } };
  return { tool: params.name, status: 0 };
}
