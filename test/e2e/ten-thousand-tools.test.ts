/** Fifty servers with two hundred tools each, behind one endpoint. */

import { afterAll, beforeAll } from "vitest";

import { type BigCatalog, startBigCatalog } from "../support/big-catalog.ts";
import { test } from "../support/clients.ts";
import type { Client, Json } from "../support/clients-face.ts";
import { memoryOf } from "../support/process-memory.ts";
import { type Server, startGateway } from "../support/servers.ts";

const SERVERS = 50;
const TOOLS = 200;
const KINDS = ["v1-http", "v2-legacy", "v2-modern"] as const;
/** A Worker has 128 MiB. Locally all of the gateway shares one process, and its own memory is in it. */
const MAX_GROWTH_BYTES = 256 * 1024 * 1024;

let catalog: BigCatalog;
let gateway: Server;
const endpoint = (): string => `${gateway.url}/mcp`;

beforeAll(async () => {
  catalog = await startBigCatalog(SERVERS, TOOLS);
  const servers = [...catalog.servers].map(([slug, url]) => [slug, { url }]);
  gateway = await startGateway({
    servers: Object.fromEntries(servers),
    // Nothing is left out of the union because the machine is busy.
    limits: { catalogWaitMilliseconds: 60_000 },
  });
}, 180_000);

afterAll(async () => {
  await gateway.stop();
  await catalog.close();
});

async function listAll(client: Client): Promise<{ names: string[]; pages: number }> {
  const names: string[] = [];
  let pages = 0;
  for (let cursor: unknown; pages < 1000;) {
    const page = await client.request("tools/list", cursor === undefined ? {} : { cursor });
    pages += 1;
    names.push(...(page["tools"] as Json[]).map(({ name }) => String(name)));
    cursor = page["nextCursor"];
    if (cursor === undefined) break;
  }
  return { names, pages };
}

test.for(KINDS)(
  "%s lists the union, and calls the tools that it lists",
  async (kind, { connect, expect }) => {
    const before = await workerdBytes();
    const client = await connect(kind, endpoint());
    const { names, pages } = await listAll(client);
    const union = [...catalog.servers.keys()].flatMap((slug) =>
      catalog.toolsOf(slug).map((tool) => `${slug}__${tool}`),
    );
    expect(names).toEqual(union);
    expect(pages).toBeGreaterThan(1);
    const lists = catalog.count("tools/list");
    for (const name of [names[0], names[4999], names.at(-1)]) {
      const { content } = await client.callTool(String(name));
      expect(content).toEqual([{ type: "text", text: String(name).replace("__", " ") }]);
    }
    expect(catalog.count("tools/list")).toBe(lists);
    if (before > 0) expect((await workerdBytes()) - before).toBeLessThan(MAX_GROWTH_BYTES);
  },
);

test.for(KINDS)("%s finds a tool by a part of its name", async (kind, { connect, expect }) => {
  const client = await connect(kind, endpoint());
  const found = await client.request("tools/list", {
    _meta: { "edgeway/search": "TOOL_17_of_big_31" },
  });
  expect((found["tools"] as Json[]).map(({ name }) => name)).toEqual(["big-31__tool_17_of_big_31"]);
});

async function workerdBytes(): Promise<number> {
  const sizes = await memoryOf("workerd", gateway.program.pid);
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

/** Of a page: what a phone on a slow network still takes in a moment. */
const MAX_PAGE_BYTES = 200_000;

test.for(["/catalog", "/catalog?q=tool", "/catalog/big-31", "/catalog/big-31?page=2"])(
  "P2: the page %s shows a part of them, and stays small",
  async (path, { expect }) => {
    const response = await fetch(gateway.url + path);
    const html = await response.text();
    expect(response.status).toBe(200);
    expect(html).toContain("tool_1");
    expect(html).toMatch(/Page [12] of 2|Show all [\d,]+ of/);
    expect(new TextEncoder().encode(html).length).toBeLessThan(MAX_PAGE_BYTES);
  },
);

test("a tool is found on the page of all servers by a part of its name", async ({ expect }) => {
  const response = await fetch(`${gateway.url}/catalog?q=TOOL_17_of_big_31`);
  const html = await response.text();
  expect(html).toContain("1 match");
  expect(html).toContain('href="/catalog/big-31/tool_17_of_big_31"');
});
