/**
 * One update on its way to all who subscribed, until the last one has it: sessions, and listeners of
 * 2026-07-28, all of them with an open stream. The server's own fan-out, in one process, is the limit.
 */

import { openListener, openSession, tell } from "../../scripts/measure-fan-out.mjs";
import { takeTurns } from "../turns.ts";
import { naming, withServers } from "../machinery/field.ts";
import { behind, type Server, startFixture } from "../machinery/servers.ts";
import { MILLISECONDS, OURS, type Result, UPSTREAM } from "../row.ts";
import type { Plan } from "./plan.ts";

const SIZES = [10, 100, 1000];
const AT_ONCE = 10;

const KINDS = [
  { variant: "sessions", open: openSession },
  { variant: "listeners", open: openListener },
];
type Kind = (typeof KINDS)[number];
type Stream = Awaited<ReturnType<Kind["open"]>>;

export async function measureFanOut(plan: Plan): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const kind of KINDS) results.push(...(await measureKind(kind, plan)));
  return results;
}

function measureKind(kind: Kind, { say, ...pace }: Plan): Promise<readonly Result[]> {
  const contenders = [
    { name: OURS, start: (): Promise<Server> => behind(startFixture) },
    { name: UPSTREAM, start: startFixture },
  ];
  const hangUp = new AbortController();
  return withServers(contenders, async (running) => {
    const fields = running.map(({ name, server }) => ({
      ...{ name, origin: new URL(server.url).origin },
      streams: [] as Stream[],
    }));
    const results: Result[] = [];
    for (const size of SIZES) {
      say(`fan-out, ${size} ${kind.variant}`);
      for (const { name, origin, streams } of fields) {
        await naming(name, () => openUpTo(size, streams, () => kind.open(origin, hangUp.signal)));
        await naming(name, () => tell(origin, streams)); // it warms up
      }
      const participants = fields.map(({ name, origin, streams }) => ({
        name,
        sample: async () => ({ ms: await tell(origin, streams) }),
      }));
      const measured = await takeTurns(participants, pace);
      const variant = `${size} ${kind.variant}`;
      results.push({ row: "fan-out", variant, metrics: [MILLISECONDS], measured, notes: [] });
    }
    return results;
  }).finally(() => hangUp.abort());
}

async function openUpTo(
  size: number,
  streams: Stream[],
  open: () => Promise<Stream>,
): Promise<void> {
  // With the first one, the server is watched.
  if (streams.length === 0) streams.push(await open());
  while (streams.length < size) {
    const more = Math.min(AT_ONCE, size - streams.length);
    streams.push(...(await Promise.all(Array.from({ length: more }, open))));
  }
}
