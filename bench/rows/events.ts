/**
 * Events of calls that stream: on one stream, and on a hundred at once. `mcp-proxy` is not asked: of
 * 2,001 messages it has passed on 1,926.
 */

import { takeTurns } from "../turns.ts";
import { type Contender, naming, withServers } from "../machinery/field.ts";
import { type Headers, openSession } from "../machinery/mcp.ts";
import { behind, startMcpAgent, startNodeServer, startStateless } from "../machinery/servers.ts";
import { burst } from "../machinery/streams.ts";
import { EVENTS, OURS, type Result, UPSTREAM } from "../row.ts";
import type { Plan } from "./plan.ts";

const BYTES = 200;
/** Streams, and the events of each. */
const SHAPES = [
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
      const variant = streams === 1 ? "1 stream" : `${streams} streams`;
      results.push({ row, variant, metrics: [EVENTS], measured, notes: [] });
    }
    return results;
  });
}

async function sessionsAt(
  url: string,
  row: string,
  count: number,
): Promise<readonly (Headers | undefined)[]> {
  const sessions: (Headers | undefined)[] = [];
  for (let n = 0; n < count; n++) {
    sessions.push(row === "events-legacy" ? await openSession(url) : undefined);
  }
  return sessions;
}

async function streamAll(
  url: string,
  sessions: readonly (Headers | undefined)[],
  events: number,
): Promise<{ readonly events: number }> {
  const startedAt = performance.now();
  await Promise.all(sessions.map((session) => burst(url, session, events, BYTES)));
  const elapsed = (performance.now() - startedAt) / 1000;
  return { events: (sessions.length * events) / elapsed };
}
