/**
 * One update on its way to all who subscribed, until the last one has it: sessions, and listeners of
 * 2026-07-28, all of them with an open stream. The server's own fan-out, in one process, is the limit.
 * At last, the objects of the sessions have gone to sleep, and the update wakes them up.
 */

import { openListener, openSession, tell } from "../../scripts/measure-fan-out.mjs";
import { readCosts } from "../../test/support/costs.ts";
import { pause } from "../../test/support/until.ts";
import { type Measured, type Sample, takeTurns } from "../turns.ts";
import { naming, withServers } from "../machinery/field.ts";
import { behind, type Server, startFixture } from "../machinery/servers.ts";
import { MILLISECONDS, OURS, type Result, UPSTREAM } from "../row.ts";
import type { Plan } from "./plan.ts";

const SIZES = [10, 100, 1000];
const AT_ONCE = 10;
/** A session is quiet after 5 s, and the platform lets an object go after 10 s more. */
const ASLEEP_MS = 17_000;
const SLEEPS = 3;
const REPORT = { COST_REPORT: "on" };
const WOKEN = { key: "woken", unit: "objects woken", digits: 0 };

const KINDS = [
  { variant: "sessions", open: openSession },
  { variant: "listeners", open: openListener },
];
type Kind = (typeof KINDS)[number];
type Stream = Awaited<ReturnType<Kind["open"]>>;

/** Who subscribed at a server. */
interface Audience {
  readonly name: string;
  readonly origin: string;
  readonly streams: Stream[];
}

export async function measureFanOut(plan: Plan): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const kind of KINDS) results.push(...(await measureKind(kind, plan)));
  return results;
}

/** The gateway in front of a server that announces changes. */
export const startWatched = (): Promise<Server> => behind(startFixture, REPORT);

/** Waits until the objects of quiet sessions have gone to sleep. */
export const goToSleep = (): Promise<void> => pause(ASLEEP_MS);

function measureKind(kind: Kind, { say, ...pace }: Plan): Promise<readonly Result[]> {
  const contenders = [
    { name: OURS, start: startWatched },
    { name: UPSTREAM, start: startFixture },
  ];
  const hangUp = new AbortController();
  return withServers(contenders, async (running) => {
    const audiences = running.map(({ name, server }): Audience => ({
      name,
      origin: new URL(server.url).origin,
      streams: [],
    }));
    const results: Result[] = [];
    for (const size of SIZES) {
      say(`fan-out, ${size} ${kind.variant}`);
      for (const { name, origin, streams } of audiences) {
        await naming(name, () => openUpTo(size, streams, () => kind.open(origin, hangUp.signal)));
        await naming(name, () => tell(origin, streams)); // it warms up
      }
      const participants = audiences.map(({ name, origin, streams }) => ({
        name,
        sample: async () => ({ ms: await tell(origin, streams) }),
      }));
      const measured = await takeTurns(participants, pace);
      const variant = `${size} ${kind.variant}`;
      results.push({ row: "fan-out", variant, metrics: [MILLISECONDS], measured, notes: [] });
    }
    if (kind.variant === "sessions") {
      say(`fan-out, ${results.at(-1)?.variant}, asleep`);
      const sleepers = audiences.filter(({ name }) => name !== UPSTREAM); // it has no objects
      results.push(await measureAsleep(sleepers));
    }
    return results;
  }).finally(() => hangUp.abort());
}

/** All of them fall asleep at the same time, since that takes a while. */
async function measureAsleep(audiences: readonly Audience[]): Promise<Result> {
  const samples = audiences.map((): Sample[] => []);
  for (let sleep = 0; sleep < SLEEPS; sleep++) {
    await goToSleep();
    for (const [index, audience] of audiences.entries()) {
      samples[index]?.push(await naming(audience.name, () => wake(audience)));
    }
  }
  const measured = audiences.map(({ name }, index): Measured => ({
    name,
    samples: samples[index] ?? [],
  }));
  const variant = `${SIZES.at(-1)} sessions, asleep`;
  return { row: "fan-out", variant, metrics: [MILLISECONDS, WOKEN], measured, notes: [] };
}

/** How many objects it takes says whether they have slept. */
async function wake({ origin, streams }: Audience): Promise<Sample> {
  const before = await readCosts(origin);
  const ms = await tell(origin, streams);
  const after = await readCosts(origin);
  return { ms, woken: after.objectsConstructed - before.objectsConstructed };
}

export async function openUpTo(
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
