/**
 * Events of calls that stream: on one stream, and on a hundred at once. `mcp-proxy` is not asked: of
 * 2,001 messages it has passed on 1,926.
 */

import { takeTurns } from "../turns.ts";
import { type Contender, naming, withServers } from "../machinery/field.ts";
import { type Headers, openSession } from "../machinery/mcp.ts";
import {
  behind,
  type Server,
  startMcpAgent,
  startNodeServer,
  startStateless,
} from "../machinery/servers.ts";
import { burst } from "../machinery/streams.ts";
import { EVENTS, OURS, type Result, UPSTREAM } from "../row.ts";
import type { Plan } from "./plan.ts";

const BYTES = 200;
/** Streams, and the events of each. */
interface Shape {
  readonly streams: number;
  readonly events: number;
}
const SHAPES: readonly Shape[] = [
  { streams: 1, events: 2000 },
  { streams: 100, events: 20 },
];

const LEGACY: readonly Contender[] = [
  { name: OURS, start: () => behind(startNodeServer) },
  { name: UPSTREAM, start: startNodeServer },
  { name: "McpAgent", start: () => startMcpAgent() },
];
const MODERN: readonly Contender[] = [
  { name: OURS, start: () => behind(() => startStateless()) },
  { name: UPSTREAM, start: () => startStateless() },
];

type Sessions = readonly (Headers | undefined)[];

/** The work of the gateway in each line of this row. */
export interface EventWork {
  readonly name: string;
  readonly start: () => Promise<Server>;
  /** The number of events that one piece of work has. */
  readonly events: number;
  /** Opens the sessions, and streams once. */
  readonly warm: (url: string) => Promise<Sessions>;
  readonly work: (url: string, sessions: Sessions) => Promise<unknown>;
}

export function eventWork(): readonly EventWork[] {
  const eras = Object.entries({ "events-legacy": LEGACY, "events-modern": MODERN });
  return eras.flatMap(([row, [ours]]) =>
    ours === undefined ? [] : SHAPES.map((shape) => workOf(row, shape, ours)),
  );
}

function workOf(row: string, { streams, events }: Shape, { start }: Contender): EventWork {
  const work = (url: string, sessions: Sessions): Promise<unknown> =>
    streamAll(url, sessions, events);
  return {
    ...{ name: `${row}, ${variantOf(streams)}`, start, events: streams * events, work },
    warm: async (url) => {
      const sessions = await sessionsAt(url, row, streams);
      await work(url, sessions);
      return sessions;
    },
  };
}

export async function measureEvents(plan: Plan): Promise<readonly Result[]> {
  const legacy = await measureEra("events-legacy", LEGACY, plan);
  return [...legacy, ...(await measureEra("events-modern", MODERN, plan))];
}

function measureEra(
  row: string,
  contenders: readonly Contender[],
  { say, ...pace }: Plan,
): Promise<readonly Result[]> {
  return withServers(contenders, async (running) => {
    const results: Result[] = [];
    for (const { streams, events } of SHAPES) {
      say(`${row}, ${streams}`);
      const participants = [];
      for (const { name, server } of running) {
        const sessions = await naming(name, () => sessionsAt(server.url, row, streams));
        const sample = (): Promise<{ readonly events: number }> =>
          streamAll(server.url, sessions, events);
        await naming(name, sample); // it warms up
        participants.push({ name, sample });
      }
      const measured = await takeTurns(participants, pace);
      const variant = variantOf(streams);
      results.push({ row, variant, metrics: [EVENTS], measured, notes: [] });
    }
    return results;
  });
}

function variantOf(streams: number): string {
  return streams === 1 ? "1 stream" : `${streams} streams`;
}

async function sessionsAt(url: string, row: string, count: number): Promise<Sessions> {
  const sessions: (Headers | undefined)[] = [];
  for (let n = 0; n < count; n++) {
    sessions.push(row === "events-legacy" ? await openSession(url) : undefined);
  }
  return sessions;
}

async function streamAll(
  url: string,
  sessions: Sessions,
  events: number,
): Promise<{ readonly events: number }> {
  const startedAt = performance.now();
  await Promise.all(sessions.map((session) => burst(url, session, events, BYTES)));
  const elapsed = (performance.now() - startedAt) / 1000;
  return { events: (sessions.length * events) / elapsed };
}
