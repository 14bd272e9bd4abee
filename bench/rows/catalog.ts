/**
 * Ten thousand tools, known to nobody yet: the first page of them, and then a call. Ours are those of
 * fifty servers, and come in pages; the peer has all of them in one server, and in one answer. `McpAgent`
 * is not asked: with so many tools, its answer to `tools/list` did not come in a minute and a half.
 */

import { startBigCatalog } from "../../test/support/big-catalog.ts";
import { percentile } from "../statistics.ts";
import { type Participant, type Sample, takeTurns } from "../turns.ts";
import { META, modernHeaders, post } from "../machinery/mcp.ts";
import { gatewayOf, type Server, startStateless } from "../machinery/servers.ts";
import { type Metric, OURS, type Result } from "../row.ts";
import type { Plan } from "./plan.ts";

const SERVERS = 50;
const TOOLS = 200;
const ALL = SERVERS * TOOLS;
/** The first ones after a cold start are slow in any server: much is still being done and compiled. */
const CALLS = 5;
const METRICS: readonly Metric[] = [
  { key: "first", unit: "ms first page, cold", digits: 0 },
  { key: "again", unit: "ms first page, again", digits: 0 },
  { key: "call", unit: `ms p50 of ${CALLS} calls`, digits: 1 },
];

interface Parameters {
  readonly name?: string;
  readonly arguments?: object;
}

interface Page {
  readonly tools?: readonly { readonly name: string }[];
}

export async function measureCatalog({ say, ...pace }: Plan): Promise<readonly Result[]> {
  say("catalog");
  const catalog = await startBigCatalog(SERVERS, TOOLS);
  try {
    const servers = Object.fromEntries([...catalog.servers].map(([slug, url]) => [slug, { url }]));
    const many = { TOOLS: String(ALL) };
    const participants: readonly Participant[] = [
      { name: OURS, sample: () => sampleOf(() => gatewayOf(servers)) },
      { name: "createMcpHandler", sample: () => sampleOf(() => startStateless(many)) },
    ];
    const measured = await takeTurns(participants, pace);
    const notes = ["Edgeway answers in pages, createMcpHandler with all tools at once"];
    return [{ row: "catalog", variant: `${ALL} tools`, metrics: METRICS, measured, notes }];
  } finally {
    await catalog.close();
  }
}

/** Each time a server that has just started. */
async function sampleOf(start: () => Promise<Server>): Promise<Sample> {
  const server = await start();
  try {
    const ask = (method: string, params: Parameters): Promise<Page> =>
      askAt(server.url, method, params);
    const list = async (): Promise<string> => {
      const { tools = [] } = await ask("tools/list", {});
      const name = tools.at(-1)?.name;
      if (name === undefined) throw new Error("No tool is listed");
      return name;
    };
    const [first, name] = await timed(list);
    const [again] = await timed(list);
    const calls: number[] = [];
    while (calls.length < CALLS) {
      const [call] = await timed(() => ask("tools/call", { name, arguments: { argument1: "a" } }));
      calls.push(call);
    }
    return { first, again, call: percentile(calls, 0.5) };
  } finally {
    await server.stop();
  }
}

async function timed<Outcome>(act: () => Promise<Outcome>): Promise<[number, Outcome]> {
  const startedAt = performance.now();
  const outcome = await act();
  return [performance.now() - startedAt, outcome];
}

async function askAt(url: string, method: string, params: Parameters): Promise<Page> {
  const headers = modernHeaders(method, params.name);
  const message = { id: 1, method, params: { ...params, _meta: META } };
  const text = await (await post(url, headers, message)).text();
  // JSON, or one event; none of the texts in it has a line of its own.
  const json = text.startsWith("{") ? text : (/^data: (.+)$/m.exec(text)?.[1] ?? "");
  const { result } = JSON.parse(json) as {
    readonly result?: Page & { readonly isError?: boolean };
  };
  if (result === undefined || result.isError === true) throw new Error(`It failed: ${text}`);
  return result;
}
