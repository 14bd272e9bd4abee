/**
 * Ten thousand tools over fifty servers, listed by a modern client page by page, with nothing known
 * before. What the pages take, and what memory the whole gateway takes more than before.
 */

import { startBigCatalog } from "../test/support/big-catalog.ts";
import { META, MODERN, post } from "./measure-post.mjs";

const SERVERS = 50;
const TOOLS = 200;

/**
 * @param {(servers: object) => Promise<{ origin: string, stop: () => unknown }>} start a gateway in
 *   front of these servers.
 * @param {() => number} memoryMib of it.
 */
export async function measureCatalog(start, memoryMib) {
  const catalog = await startBigCatalog(SERVERS, TOOLS);
  const entries = [...catalog.servers].map(([slug, url]) => [slug, { url }]);
  const gateway = await start(Object.fromEntries(entries));
  try {
    const before = memoryMib();
    const cold = await listAll(gateway.origin);
    const warm = await listAll(gateway.origin);
    if (cold.count !== SERVERS * TOOLS) throw new Error(`${cold.count} tools were listed`);
    return {
      firstMs: cold.firstMs,
      allMs: cold.allMs,
      warmMs: warm.allMs,
      mib: memoryMib() - before,
    };
  } finally {
    gateway.stop();
    await catalog.close();
  }
}

/** @param {string} origin */
async function listAll(origin) {
  const startedAt = performance.now();
  let firstMs = 0;
  let count = 0;
  /** @type {string | undefined} */
  let cursor;
  do {
    const response = await post(
      origin,
      { "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list" },
      {
        ...{ id: 1, method: "tools/list" },
        params: { _meta: META, ...(cursor === undefined ? {} : { cursor }) },
      },
    );
    const text = await response.text();
    // An answer that takes more than a second is an event of a stream.
    const [, event = text] = /^data: (.+)$/m.exec(text) ?? [];
    /** @type {{ result: { tools: unknown[], nextCursor?: string } }} */
    const { result } = JSON.parse(event);
    count += result.tools.length;
    cursor = result.nextCursor;
    if (firstMs === 0) firstMs = performance.now() - startedAt;
  } while (cursor !== undefined);
  return { firstMs, allMs: performance.now() - startedAt, count };
}
