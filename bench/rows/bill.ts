/**
 * The bill: what the platform charges for, counted while some of each is done, one after the other,
 * and priced. Ours by the gateway's own report, `McpAgent` by one with the same names.
 */

import { type Costs, readCosts } from "../../test/support/costs.ts";
import { dollarsPerMillion, type Operations, operationsOf } from "../bill.ts";
import { pricesInWords } from "../prices.ts";
import type { Measured, Sample } from "../turns.ts";
import { naming, type Running, withServers } from "../machinery/field.ts";
import { type Headers, META, modernHeaders, post } from "../machinery/mcp.ts";
import { behind, startHosting, startMcpAgent, startNodeServer } from "../machinery/servers.ts";
import { burst, resume } from "../machinery/streams.ts";
import { type Metric, OURS, type Result } from "../row.ts";
import type { Plan } from "./plan.ts";
import { callOnce, openAndCall } from "./set-up.ts";

const COUNTED = 20;
/** What is not waited for is counted so often. */
const RUNS = 5;
const EVENTS = 100;
const BYTES = 200;
/** A session is quiet after 5 s, and the platform lets an object go after 10 s more. */
const ASLEEP_MS = 17_000;
const IDLE_MS = 20_000;
const MONTH_MS = 30 * 86_400_000;
const REPORT = { COST_REPORT: "on" };

const METRICS: readonly Metric[] = [
  { key: "dollars", unit: "$ per million", digits: 3 },
  { key: "objectRequests", unit: "object requests", digits: 2 },
  { key: "rowsWritten", unit: "rows written", digits: 2 },
  { key: "rowsRead", unit: "rows read", digits: 2 },
];
const IDLE_METRICS: readonly Metric[] = [
  { key: "dollars", unit: "$ per thousand stream-months", digits: 2 },
  { key: "objectRequests", unit: "object requests", digits: 0 },
  { key: "awake", unit: "objects awake", digits: 0 },
];

const NOTES: readonly string[] = [
  ...pricesInWords(),
  "not in it: processor time of Workers ($0.02 for a million ms), what is stored, alarms that go off, what the plan includes",
];

export async function measureBill({ say }: Plan): Promise<readonly Result[]> {
  const results: Result[] = [];
  say("bill, calls");
  const hosted = [
    { name: OURS, start: () => startHosting(REPORT) },
    { name: "McpAgent", start: () => startMcpAgent(REPORT) },
  ];
  await withServers(hosted, async ([ours, agent]) => {
    if (ours === undefined || agent === undefined) return;
    const modern = await billOf(ours, 1, () => callModern(ours.server.url));
    results.push(resultOf("modern call", [modern]));
    results.push(resultOf("session call", await each([ours, agent], billOfCalls)));
    results.push(
      resultOf(
        "session set-up",
        await each([ours, agent], (one) => billOf(one, 3, () => openAndCall(one.server.url))),
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
    say("bill, idle streams");
    results.push(await measureIdle(running));
  });
  return results;
}

/** A call in a session that has had one. */
async function billOfCalls(one: Running): Promise<Measured> {
  const session = await openAndCall(one.server.url);
  return billOf(one, 1, () => callOnce(one.server.url, session));
}

/** @param requests that a client sends for one of it. */
async function billOf(
  { name, server }: Running,
  requests: number,
  act: () => Promise<unknown>,
): Promise<Measured> {
  return naming(name, async () => {
    await act(); // what is done once is done
    const samples: Sample[] = [];
    for (let run = 0; run < RUNS; run++) samples.push(await countRun(server.url, requests, act));
    return { name, samples };
  });
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

async function callModern(url: string): Promise<void> {
  const params = { name: "echo", arguments: { text: "tea" }, _meta: META };
  const message = { id: 1, method: "tools/call", params };
  await (await post(url, modernHeaders("tools/call", "echo"), message)).text();
}

/** Streams that nothing happens on: what is counted, and whether their objects sleep. */
async function measureIdle(running: readonly Running[]): Promise<Result> {
  const hangUp = new AbortController();
  try {
    const opened: (readonly Headers[])[] = [];
    for (const { name, server } of running) {
      opened.push(await naming(name, () => openIdle(server.url, hangUp.signal)));
    }
    await pause(ASLEEP_MS);
    const origins = running.map(({ server }) => new URL(server.url).origin);
    const before = await Promise.all(origins.map((origin) => readCosts(origin)));
    await pause(IDLE_MS);
    const after = await Promise.all(origins.map((origin) => readCosts(origin)));
    const measured: Measured[] = [];
    for (const [index, { name, server }] of running.entries()) {
      const [from, to] = [before[index], after[index]];
      if (from === undefined || to === undefined) throw new Error(`${name} was not counted`);
      const awake = await naming(name, () => awakeOf(server.url, opened[index] ?? [], to));
      measured.push({ name, samples: [idleSample(from, to, awake)] });
    }
    const variant = `idle stream, of ${COUNTED}`;
    const notes = [
      `one run of ${IDLE_MS / 1000} s for the idle streams, ${RUNS} runs of ${COUNTED} for the others`,
    ];
    return { row: "bill", variant, metrics: IDLE_METRICS, measured, notes };
  } finally {
    hangUp.abort();
  }
}

async function openIdle(url: string, signal: AbortSignal): Promise<readonly Headers[]> {
  const sessions: Headers[] = [];
  for (let n = 0; n < COUNTED; n++) {
    const session = await openAndCall(url);
    const stream = await resume(url, session, undefined, signal);
    stream.body?.pipeTo(new WritableStream()).catch(() => undefined); // until somebody hangs up
    sessions.push(session);
  }
  return sessions;
}

/** An object that slept comes to life again when it is called. */
async function awakeOf(url: string, sessions: readonly Headers[], before: Costs): Promise<number> {
  for (const session of sessions) await callOnce(url, session);
  const { objectsConstructed } = await readCosts(new URL(url).origin);
  return sessions.length - (objectsConstructed - before.objectsConstructed);
}

/** Of a thousand streams in a month, from a few in less than a minute. */
function idleSample(before: Costs, after: Costs, awake: number): Sample {
  const months = (COUNTED * IDLE_MS) / MONTH_MS;
  const operations: Operations = {
    ...operationsOf(before, after, months),
    workerRequests: 0,
    objectSeconds: ((awake / COUNTED) * MONTH_MS) / 1000,
  };
  const dollars = dollarsPerMillion(operations) / 1000;
  return { dollars, objectRequests: operations.objectRequests * 1000, awake };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function each(
  running: readonly Running[],
  bill: (one: Running) => Promise<Measured>,
): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  for (const one of running) measured.push(await bill(one));
  return measured;
}

function resultOf(variant: string, measured: readonly Measured[]): Result {
  return { row: "bill", variant, metrics: METRICS, measured, notes: NOTES };
}
