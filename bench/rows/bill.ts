/**
 * The bill: what the platform charges for, counted while some of each is done, one after the other,
 * and priced. Ours by the gateway's own report, `McpAgent` by one with the same names.
 */

import { readCosts } from "../../test/support/costs.ts";
import { dollarsPerMillion, operationsOf } from "../bill.ts";
import { pricesInWords } from "../prices.ts";
import type { Measured, Sample } from "../turns.ts";
import { naming, type Running, withServers } from "../machinery/field.ts";
import { ask, legacyCall, modernCall } from "../machinery/mcp.ts";
import { behind, startHosting, startMcpAgent, startNodeServer } from "../machinery/servers.ts";
import { burst } from "../machinery/streams.ts";
import { type Metric, OURS, type Result } from "../row.ts";
import type { Plan } from "./plan.ts";
import { openAndCall } from "./set-up.ts";

const COUNTED = 20;
/** What is not waited for is counted so often. */
const RUNS = 5;
const EVENTS = 100;
const BYTES = 200;
const REPORT = { COST_REPORT: "on" };

const METRICS: readonly Metric[] = [
  { key: "dollars", unit: "$ per million", digits: 3 },
  { key: "objectRequests", unit: "object requests", digits: 2 },
  { key: "rowsWritten", unit: "rows written", digits: 2 },
  { key: "rowsRead", unit: "rows read", digits: 2 },
];

const NOTES: readonly string[] = [
  ...pricesInWords(),
  `${RUNS} runs of ${COUNTED}`,
  "not in it: processor time of Workers ($0.02 for a million ms), what is stored, alarms that go off, what the plan includes",
];

export async function measureBill({ say }: Plan): Promise<readonly Result[]> {
  const results: Result[] = [];
  say("bill, calls");
  const hosted = [
    { name: OURS, start: () => startHosting(REPORT) },
    { name: "McpAgent", start: () => startMcpAgent(REPORT) },
  ];
  await withServers(hosted, async (running) => {
    const modern = running.filter(({ name }) => name === OURS); // McpAgent has sessions alone
    results.push(resultOf("modern call", await each(modern, billOfModernCalls)));
    results.push(resultOf("session call", await each(running, billOfCalls)));
    results.push(
      resultOf(
        "session set-up",
        await each(running, (one) => billOf(one, 3, () => openAndCall(one.server.url))),
      ),
    );
  });
  say("bill, streams");
  const proxied = [
    { name: OURS, start: () => behind(startNodeServer, REPORT) },
    { name: "McpAgent", start: () => startMcpAgent(REPORT) },
  ];
  await withServers(proxied, async (running) => {
    const streamed = await each(running, async (one) => {
      const session = await openAndCall(one.server.url);
      return billOf(one, 1, () => burst(one.server.url, session, EVENTS, BYTES));
    });
    results.push(resultOf(`call with ${EVENTS} events`, streamed));
  });
  return results;
}

function billOfModernCalls(one: Running): Promise<Measured> {
  return billOf(one, 1, () => ask(one.server.url, modernCall()));
}

/** A call in a session that has had one. */
async function billOfCalls(one: Running): Promise<Measured> {
  const session = await openAndCall(one.server.url);
  return billOf(one, 1, () => ask(one.server.url, legacyCall(session)));
}

/** @param requests that a client sends for one of it. */
async function billOf(
  { name, server }: Running,
  requests: number,
  act: () => Promise<unknown>,
): Promise<Measured> {
  await act(); // what is done once is done
  const samples: Sample[] = [];
  for (let run = 0; run < RUNS; run++) samples.push(await countRun(server.url, requests, act));
  return { name, samples };
}

async function countRun(
  url: string,
  requests: number,
  act: () => Promise<unknown>,
): Promise<Sample> {
  const { origin } = new URL(url);
  const before = await readCosts(origin);
  const startedAt = performance.now();
  for (let n = 0; n < COUNTED; n++) await act();
  const seconds = (performance.now() - startedAt) / 1000 / COUNTED;
  const counted = operationsOf(before, await readCosts(origin), COUNTED);
  // An object is at work for as long as its client waits, at the most.
  const objectSeconds = counted.objectRequests === 0 ? 0 : seconds;
  const operations = { ...counted, workerRequests: requests, objectSeconds };
  return { ...operations, dollars: dollarsPerMillion(operations) };
}

async function each(
  running: readonly Running[],
  bill: (one: Running) => Promise<Measured>,
): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  for (const one of running) measured.push(await naming(one.name, () => bill(one)));
  return measured;
}

function resultOf(variant: string, measured: readonly Measured[]): Result {
  return { row: "bill", variant, metrics: METRICS, measured, notes: NOTES };
}
