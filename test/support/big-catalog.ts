/**
 * Many servers in one process, each with many tools, page by page, in both eras. Every tool answers
 * with its own name, and the name of its server.
 */

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface BigCatalog {
  /** Slug → address. */
  readonly servers: ReadonlyMap<string, string>;
  readonly toolsOf: (slug: string) => readonly string[];
  /** How many requests of this method all of them were sent. */
  readonly count: (method: string) => number;
  /** From now on, this one answers no request for a list. */
  stall(slug: string): void;
  close(): Promise<void>;
}

interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly cursor?: string; readonly name?: string };
}

const PAGE = 50;
const CAPABILITIES = { tools: {} };
const SERVER_INFO = { name: "big", version: "1" };

export async function startBigCatalog(servers: number, tools: number): Promise<BigCatalog> {
  const counts = new Map<string, number>();
  const stalled = new Set<string>();
  const slugs = Array.from({ length: servers }, (_, n) => `big-${n}`);
  const toolsOf = (slug: string): string[] =>
    Array.from({ length: tools }, (_, n) => `tool_${n}_of_${slug.replace("-", "_")}`);

  const server = createServer((request, response) => {
    const slug = (request.url ?? "").slice(1);
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.method === "GET") return void response.writeHead(405).end();
      if (request.method === "DELETE") return void response.writeHead(200).end();
      const message = JSON.parse(Buffer.concat(chunks).toString()) as Message;
      counts.set(message.method, (counts.get(message.method) ?? 0) + 1);
      if (stalled.has(slug) && message.method.endsWith("/list")) return undefined;
      return answer(response, slug, message);
    });
  });

  function answer(response: ServerResponse, slug: string, { id, method, params }: Message): void {
    if (id === undefined) return void response.writeHead(202).end();
    const result = resultOf(slug, method, params);
    const outcome =
      result === undefined
        ? { error: { code: -32601, message: "Method not found" } }
        : { result: { resultType: "complete", ...result } };
    response
      .writeHead(200, { "Content-Type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }));
  }

  function resultOf(slug: string, method: string, params: Message["params"]): object | undefined {
    switch (method) {
      case "initialize":
        return {
          protocolVersion: "2025-11-25",
          capabilities: CAPABILITIES,
          serverInfo: SERVER_INFO,
        };
      case "server/discover":
        return {
          ...{ supportedVersions: ["2026-07-28"], capabilities: CAPABILITIES },
          ...{ ttlMs: 60_000, cacheScope: "public" },
        };
      case "tools/list": {
        const from = Number(params?.cursor ?? 0);
        const names = toolsOf(slug).slice(from, from + PAGE);
        return {
          tools: names.map((name) => toolOf(name)),
          ...{ ttlMs: 60_000, cacheScope: "public" },
          ...(from + PAGE < tools ? { nextCursor: String(from + PAGE) } : {}),
        };
      }
      case "tools/call":
        return { content: [{ type: "text", text: `${slug} ${params?.name}` }] };
      default:
        return undefined;
    }
  }

  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    servers: new Map(slugs.map((slug) => [slug, `http://localhost:${port}/${slug}`])),
    toolsOf,
    count: (method) => counts.get(method) ?? 0,
    stall: (slug) => void stalled.add(slug),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** As large as tools are that people write. */
function toolOf(name: string): object {
  const property = (n: number): object => ({
    type: "string",
    description: `What the ${n}. argument of ${name} is about, in one sentence that is not short.`,
  });
  return {
    name,
    title: `The tool ${name}`,
    description: `Does what ${name} does, with four arguments, and says so at some length. `.repeat(
      3,
    ),
    inputSchema: {
      type: "object",
      properties: Object.fromEntries([1, 2, 3, 4].map((n) => [`argument${n}`, property(n)])),
      required: ["argument1"],
    },
  };
}
