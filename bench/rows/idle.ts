/**
 * Sessions that each have a stream open and nothing to say, once their objects may sleep: the memory
 * of workerd, and what the platform would charge for. All of them wait at the same time, since it takes
 * a while. One run: memory has few moods, and who sleeps has none.
 */

import { type Costs, readCosts } from "../../test/support/costs.ts";
import { pause } from "../../test/support/until.ts";
import { dollarsPerMillion, type Operations, operationsOf } from "../bill.ts";
import { naming, type Running, withServers } from "../machinery/field.ts";
import { ask, type Headers, legacyCall } from "../machinery/mcp.ts";
import { behind, type Server, startMcpAgent, startNodeServer } from "../machinery/servers.ts";
import { resume } from "../machinery/streams.ts";
import { residentMib } from "../machinery/usage.ts";
import { MEBIBYTES, type Metric, OURS, type Result } from "../row.ts";
import type { Sample } from "../turns.ts";
import type { Plan } from "./plan.ts";
import { openAndCall } from "./set-up.ts";

/** Streams; each number of them has servers of its own. */
const SIZES = [0, 100, 1000];
/** That many are counted. */
const COUNTED = 100;
const AT_ONCE = 10;
/** A session is quiet after 5 s, and the platform lets an object go after 10 s more. */
const ASLEEP_MS = 17_000;
const COUNTED_SECONDS = 10;
const MONTH_SECONDS = 30 * 86_400;
const REPORT = { COST_REPORT: "on" };

const COSTS: readonly Metric[] = [
  { key: "dollars", unit: "$ per thousand stream-months", digits: 2 },
  { key: "objectRequests", unit: "object requests", digits: 0 },
  { key: "awake", unit: "objects awake", digits: 0 },
];

interface IdleServer extends Server {
  readonly streams: number;
}

interface Idle extends Running<IdleServer> {
  readonly sessions: readonly Headers[];
}

export function measureIdle({ say }: Plan): Promise<readonly Result[]> {
  const contenders = SIZES.flatMap((streams) => [
    {
      name: OURS,
      start: async () => ({ ...(await behind(startNodeServer, REPORT)), streams }),
    },
    { name: "McpAgent", start: async () => ({ ...(await startMcpAgent(REPORT)), streams }) },
  ]);
  const hangUp = new AbortController();
  return withServers<IdleServer, readonly Result[]>(contenders, async (running) => {
    const idle: Idle[] = [];
    for (const one of running) {
      say(`idle, ${one.server.streams} streams of ${one.name}`);
      const sessions = await naming(one.name, () => openStreams(one.server, hangUp.signal));
      idle.push({ ...one, sessions });
    }
    await pause(ASLEEP_MS);
    const memory = await Promise.all(
      SIZES.map((size) => resultOf(`${size} streams`, [MEBIBYTES], idleOf(size, idle), memoryOf)),
    );
    say("idle, counted");
    const variant = `${COUNTED} streams for ${COUNTED_SECONDS} s`;
    return [...memory, await resultOf(variant, COSTS, idleOf(COUNTED, idle), costOf)];
  }).finally(() => hangUp.abort());
}

/** @returns their sessions. */
async function openStreams(
  { url, streams }: IdleServer,
  signal: AbortSignal,
): Promise<readonly Headers[]> {
  await openAndCall(url); // what is loaded by the first session is there
  const sessions: Headers[] = [];
  while (sessions.length < streams) {
    const opening = Array.from({ length: AT_ONCE }, async () => {
      const session = await openAndCall(url);
      const stream = await resume(url, session, undefined, signal);
      // It is read, as clients do, until somebody hangs up.
      stream.body?.pipeTo(new WritableStream()).catch(() => undefined);
      return session;
    });
    sessions.push(...(await Promise.all(opening)));
  }
  return sessions;
}

async function memoryOf({ server: { pid } }: Idle): Promise<Sample> {
  return { mib: await residentMib("workerd", pid) };
}

/** What a thousand streams cost in a month, from some of them in less than a minute. */
async function costOf({ server: { url }, sessions }: Idle): Promise<Sample> {
  const { origin } = new URL(url);
  const before = await readCosts(origin);
  await pause(COUNTED_SECONDS * 1000);
  const after = await readCosts(origin);
  const awake = await awakeOf(url, sessions, after);
  const months = (sessions.length * COUNTED_SECONDS) / MONTH_SECONDS;
  const operations: Operations = {
    ...operationsOf(before, after, months),
    workerRequests: 0,
    objectSeconds: (awake / sessions.length) * MONTH_SECONDS,
  };
  const dollars = dollarsPerMillion(operations) / 1000;
  return { dollars, objectRequests: operations.objectRequests * 1000, awake };
}

/** An object that slept comes to life again when it is called. */
async function awakeOf(url: string, sessions: readonly Headers[], before: Costs): Promise<number> {
  for (const session of sessions) await ask(url, legacyCall(session));
  const { objectsConstructed } = await readCosts(new URL(url).origin);
  // Other objects may have come to life in that time, too.
  return Math.max(0, sessions.length - (objectsConstructed - before.objectsConstructed));
}

function idleOf(size: number, idle: readonly Idle[]): readonly Idle[] {
  return idle.filter(({ server }) => server.streams === size);
}

async function resultOf(
  variant: string,
  metrics: readonly Metric[],
  idle: readonly Idle[],
  sampleOf: (one: Idle) => Promise<Sample>,
): Promise<Result> {
  const measured = await Promise.all(
    idle.map(async (one) => {
      const sample = await naming(one.name, () => sampleOf(one));
      return { name: one.name, samples: [sample] };
    }),
  );
  return { row: "idle", variant, metrics, measured, notes: ["one run"] };
}
