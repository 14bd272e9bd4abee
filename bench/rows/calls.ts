/**
 * A tool call, by every way that there is: hosted (a service binding) and proxied (a URL), in a
 * session and without one. The tool says what it was told, so that what is measured is the way.
 */

import { type Contender, naming, type Running, withServers } from "../machinery/field.ts";
import { type Asking, type Load, openLoad } from "../machinery/load.ts";
import { legacyCall, modernCall, openSession } from "../machinery/mcp.ts";
import { metered } from "../machinery/metered-load.ts";
import {
  behind,
  startEmpty,
  startHosting,
  startMcpAgent,
  startMcpProxy,
  startNodeServer,
  startStateless,
  startSupergateway,
} from "../machinery/servers.ts";
import { warmUp } from "../machinery/warm-up.ts";
import { join } from "../join.ts";
import type { RowName } from "../row-names.ts";
import { CPU_REQUESTS, OURS, P50, P99, REQUESTS, type Result, UPSTREAM } from "../row.ts";
import { type Measured, type Participant, takeTurns } from "../turns.ts";
import type { Plan } from "./plan.ts";

export type CallRow = Extract<RowName, `call-${string}`>;
type Era = "legacy" | "modern";

interface Way {
  readonly era: Era;
  /** Ours first. */
  readonly contenders: readonly Contender[];
}

const CONNECTIONS = [1, 16, 64];
const CONNECTING_SECONDS = 0.1;
const CEILING_SECONDS = 0.5;
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
      mcpProxy,
    ],
  },
  "call-proxied-legacy": {
    era: "legacy",
    contenders: [
      { name: OURS, start: () => behind(startNodeServer) },
      { name: UPSTREAM, start: startNodeServer },
      ...[mcpProxy, supergateway],
    ],
  },
};

interface Field {
  readonly running: Running;
  /** One for each connection that there will ever be: sessions are opened once. */
  readonly askings: readonly Asking[];
}

/** @throws Error that names who could not be measured. */
export async function measureCalls(row: CallRow, plan: Plan): Promise<readonly Result[]> {
  const { era, contenders } = WAYS[row];
  return withServers([ceiling, ...contenders], async (servers) => {
    plan.say(`${row}, sessions`);
    const fields: Field[] = [];
    for (const running of servers) {
      const { name, server } = running;
      const askings =
        name === ceiling.name
          ? Array<Asking>(MOST_CONNECTIONS).fill(legacyCall({}))
          : await naming(name, () => askingsOf(server.url, era));
      await naming(name, () => warmUp(server.url, askings));
      fields.push({ running, askings });
    }
    const results: Result[] = [];
    for (const connections of CONNECTIONS) {
      plan.say(`${row}, ${connections}`);
      results.push(await measureAt(connections, row, fields, plan));
    }
    // What is computed for a call hardly depends on how many come at once.
    const { ceiling: _, ...all } = results.reduce(join);
    return [...results, { ...all, variant: "all of these", metrics: [CPU_REQUESTS] }];
  });
}

async function askingsOf(url: string, era: Era): Promise<readonly Asking[]> {
  const askings: Asking[] = [];
  for (let n = 0; n < MOST_CONNECTIONS; n++) {
    askings.push(era === "modern" ? modernCall() : legacyCall(await openSession(url)));
  }
  return askings;
}

async function measureAt(
  connections: number,
  row: CallRow,
  fields: readonly Field[],
  { seconds, rounds }: Plan,
): Promise<Result> {
  const loads: Load[] = [];
  try {
    const participants: Participant[] = [];
    let reached: Measured | undefined;
    for (const { running, askings } of fields) {
      const { name, server } = running;
      const load = openLoad(server.url, askings.slice(0, connections));
      loads.push(load);
      await naming(name, () => load.run(CONNECTING_SECONDS));
      if (name === ceiling.name) {
        reached = { name, samples: [await load.run(CEILING_SECONDS)] };
        continue;
      }
      const meteredLoad = metered(load, server);
      participants.push({ name, sample: () => meteredLoad.run(seconds) });
    }
    if (reached === undefined) throw new Error("The load generator was not measured");
    const measured = await takeTurns(participants, { rounds, patienceSeconds: Infinity });
    const metrics = [REQUESTS, P50, P99];
    return {
      row,
      variant: `${connections} conn.`,
      ...{ metrics, measured, ceiling: reached, notes: [] },
    };
  } finally {
    for (const load of loads) load.close();
  }
}
