/**
 * A tool call, by every way that there is: hosted (a service binding) and proxied (a URL), in a
 * session and without one. The tool says what it was told, so that what is measured is the way.
 */

import { type Contender, naming, withServers } from "../machinery/field.ts";
import type { Asking } from "../machinery/load.ts";
import { type Field, loadInTurns, loadOnce } from "../machinery/load-in-turns.ts";
import { legacyCall, modernCall, openSession } from "../machinery/mcp.ts";
import {
  behind,
  passing,
  type Server,
  startEmpty,
  startHosting,
  startMcpAgent,
  startMcpProxy,
  startNodeServer,
  startStateless,
  startSupergateway,
} from "../machinery/servers.ts";
import { warmUp } from "../machinery/warm-up.ts";
import type { RowName } from "../row-names.ts";
import {
  CPU_REQUESTS,
  OURS,
  P50,
  P99,
  PASSING,
  PASSING_OBJECT,
  REQUESTS,
  type Result,
  UNRECORDED,
  UPSTREAM,
} from "../row.ts";
import type { Plan } from "./plan.ts";

export type CallRow = Extract<RowName, `call-${string}`>;
type Era = "legacy" | "modern";

interface Way {
  readonly era: Era;
  /** Ours first. */
  readonly contenders: readonly Contender[];
}

const CONNECTIONS = [1, 16];
const METRICS = [REQUESTS, CPU_REQUESTS, P50, P99];
const CEILING_SECONDS = 0.5;
const OPENED_AT_ONCE = 8;
const MOST_CONNECTIONS = Math.max(...CONNECTIONS);

const node: Contender = { name: "SDK on Node", start: startNodeServer };
const stateless: Contender = { name: "createMcpHandler", start: () => startStateless() };
const mcpAgent: Contender = { name: "McpAgent", start: () => startMcpAgent() };
const hosting: Contender = { name: OURS, start: () => startHosting() };
const mcpProxy: Contender = { name: "mcp-proxy", start: startMcpProxy };
const supergateway: Contender = { name: "supergateway", start: startSupergateway };
/** A Worker that parses the request and answers: as much as this load generator reaches. */
const ceiling: Contender = { name: "the load generator", start: startEmpty };

export const WAYS: Readonly<Record<CallRow, Way>> = {
  "call-hosted-modern": { era: "modern", contenders: [hosting, stateless, node] },
  "call-hosted-legacy": { era: "legacy", contenders: [hosting, mcpAgent, stateless, node] },
  "call-proxied-modern": {
    era: "modern",
    contenders: [
      { name: OURS, start: () => behind(() => startStateless()) },
      { name: UPSTREAM, start: () => startStateless() },
      ...hops(() => startStateless()),
      mcpProxy,
    ],
  },
  "call-proxied-legacy": {
    era: "legacy",
    contenders: [
      { name: OURS, start: () => behind(startNodeServer) },
      { name: UPSTREAM, start: startNodeServer },
      ...hops(startNodeServer),
      { name: PASSING_OBJECT, start: () => passing("object", startNodeServer) },
      ...[mcpProxy, supergateway],
    ],
  },
  "call-recorded": {
    era: "modern",
    contenders: [
      { name: OURS, start: () => startHosting({ ACTIVITY: "all" }) },
      { name: UNRECORDED, start: () => startHosting({ ACTIVITY: "off" }) },
    ],
  },
};

/** Workers that do nothing else than to pass a call on: what any gateway on this platform adds. */
function hops(start: () => Promise<Server>): readonly Contender[] {
  return [
    { name: PASSING, start: () => passing("bytes", start) },
    { name: "a Worker that parses and writes", start: () => passing("messages", start) },
  ];
}

/** @throws Error that names who could not be measured. */
export async function measureCalls(row: CallRow, plan: Plan): Promise<readonly Result[]> {
  const { era, contenders } = WAYS[row];
  return withServers([ceiling, ...contenders], async ([generator, ...servers]) => {
    if (generator === undefined) throw new Error("The load generator was not started");
    plan.say(`${row}, sessions`);
    const calls = Array<Asking>(MOST_CONNECTIONS).fill(legacyCall({}));
    const reach: Field = { running: generator, askings: calls };
    const fields: Field[] = [];
    for (const running of servers) {
      const askings = await naming(running.name, () => askingsOf(running.server.url, era));
      fields.push({ running, askings });
    }
    for (const { running, askings } of [reach, ...fields]) {
      await naming(running.name, () => warmUp(running.server.url, askings));
    }
    const results: Result[] = [];
    for (const connections of CONNECTIONS) {
      plan.say(`${row}, ${connections}`);
      const some = ({ running, askings }: Field): Field => {
        return { running, askings: askings.slice(0, connections) };
      };
      results.push({
        ...{ row, variant: `${connections} conn.`, metrics: METRICS, notes: [] },
        ceiling: await loadOnce(some(reach), CEILING_SECONDS),
        measured: await loadInTurns(fields.map(some), plan),
      });
    }
    return results;
  });
}

/** Sessions are opened once, one for each connection that there will ever be. */
async function askingsOf(url: string, era: Era): Promise<readonly Asking[]> {
  if (era === "modern") return Array<Asking>(MOST_CONNECTIONS).fill(modernCall());
  const askings: Asking[] = [];
  while (askings.length < MOST_CONNECTIONS) {
    const opening = Array.from({ length: OPENED_AT_ONCE }, () => openSession(url));
    askings.push(...(await Promise.all(opening)).map((session) => legacyCall(session)));
  }
  return askings;
}
