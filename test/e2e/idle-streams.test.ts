/**
 * Streams with nothing to say are held by the Worker alone: their objects are let go, nothing is
 * asked, read, written or set while they are idle, and each delivers what comes in the end, also
 * what comes just when its object falls asleep.
 */

import { afterAll, beforeAll, expect, test } from "vitest";

import { type Costs, readCosts } from "../support/costs.ts";
import type { Json } from "../support/clients-face.ts";
import { inParallel } from "../support/in-parallel.ts";
import { type KillableGateway, startKillableGateway } from "../support/killable-gateway.ts";
import { memoryOf } from "../support/process-memory.ts";
import { getFrom, openRawSession } from "../support/raw-session.ts";
import { readEvents } from "../support/read-events.ts";
import { seeded } from "../support/seeded.ts";
import { type StreamingUpstream, startStreamingUpstream } from "../support/streaming-upstream.ts";
import { pause, until } from "../support/until.ts";

const STREAMS = 200;
const DROWSY_STREAMS = 100;
const AT_ONCE = 20;
const IDLE_MS = 30_000;
const KEEP_ALIVE_SECONDS = 5;
/** After so long without a word a session has the Worker watch its upstream. */
const QUIET_MS = 1000;
/** After so long without work the platform lets go of an object. */
const EVICTED_MS = 10_000;
/** What is waited before each message: until about when a watch is handed over, an object let go. */
const NAPS = [
  [0, 0],
  [QUIET_MS, QUIET_MS + 60],
  [EVICTED_MS - 500, EVICTED_MS + 500],
  [EVICTED_MS - 500, EVICTED_MS + 500],
] as const;
const TIMEOUT_MS = 240_000;

interface IdleStream {
  readonly messages: Json[];
  keepAlives: number;
  isOver: boolean;
}

/** What came on any stream, by `keyOf`. */
const delivered = new Set<string>();

let upstream: StreamingUpstream;
let gateway: KillableGateway;

beforeAll(async () => {
  upstream = await startStreamingUpstream();
  gateway = await startKillableGateway({
    servers: { one: { url: upstream.url } },
    limits: { keepAliveSeconds: KEEP_ALIVE_SECONDS, quietSeconds: QUIET_MS / 1000 },
    vars: { COST_REPORT: "on" },
  });
});

afterAll(async () => {
  await gateway.remove();
  await upstream.close();
});

test(`${STREAMS} idle streams cost nothing, and deliver`, { timeout: TIMEOUT_MS }, async () => {
  const ids = await inParallel(STREAMS, AT_ONCE, () => openRawSession(`${gateway.url}/mcp/one`));
  const memoryBefore = await memoryOf("workerd", gateway.pid);
  const streams = await Promise.all(ids.map(async (session) => listenTo(await getFrom(session))));
  await allAreHeard(() => upstream.listeners, STREAMS);
  const sessions = upstream.listeners;
  const settled = await settledCosts();
  await pause(IDLE_MS);
  const idle = await readCosts(gateway.url);
  report(memoryBefore, await memoryOf("workerd", gateway.pid));
  expect(idle).toEqual(settled);
  const keepAlives = Math.min(...streams.map((stream) => stream.keepAlives));
  expect(keepAlives).toBeGreaterThanOrEqual(IDLE_MS / 1000 / KEEP_ALIVE_SECONDS - 1);

  // Each object was let go, and is made once for what comes. The second message finds it there: it
  // follows the first at once, because an object is let go again after `EVICTED_MS` without work.
  await inParallel(STREAMS, AT_ONCE, async (index) => {
    const session = sessions[index] ?? "";
    for (const number of [1, 2]) {
      upstream.announce(session, newsOf(session, number));
      await until(() => delivered.has(keyOf(session, number)), `message ${number} of ${session}`);
    }
  });
  const { objectsConstructed } = await readCosts(gateway.url);
  // And the registry, which is asked once whether servers were added meanwhile.
  expect(objectsConstructed - idle.objectsConstructed).toBe(STREAMS + 1);
  expect(numbersOn(streams)).toEqual(allTheSame(sessions, [1, 2]));
  expect(streams.filter(({ isOver }) => isOver)).toEqual([]);
});

test(
  "a message that comes just as an object hibernates is delivered",
  {
    timeout: TIMEOUT_MS,
  },
  async () => {
    // The streams of sessions that were there before may come and go still.
    const earlier = new Set(upstream.received.map(({ session }) => session));
    const own = (): readonly string[] => upstream.listeners.filter((id) => !earlier.has(id));
    const streams = await inParallel(DROWSY_STREAMS, AT_ONCE, async () =>
      listenTo(await getFrom(await openRawSession(`${gateway.url}/mcp/one`))),
    );
    await allAreHeard(own, DROWSY_STREAMS);
    const sessions = own();

    const dice = seeded(4);
    await Promise.all(
      sessions.map(async (session) => {
        for (const [index, [least, most]] of NAPS.entries()) {
          await pause(dice.int(least, most));
          upstream.announce(session, newsOf(session, index + 1));
        }
      }),
    );
    await allHave(streams, NAPS.length);
    expect(numbersOn(streams)).toEqual(allTheSame(sessions, [1, 2, 3, 4]));
    expect(streams.filter(({ isOver }) => isOver)).toEqual([]);
  },
);

/** Waits until so many sessions of the upstream have an open stream. */
async function allAreHeard(listened: () => readonly string[], count: number): Promise<void> {
  const what = (): string => `${count} streams are heard at the upstream, not ${listened().length}`;
  await until(() => listened().length === count, what);
}

function listenTo(response: Response): IdleStream {
  if (!response.ok) throw new Error(`No stream: ${response.status}`);
  const stream: IdleStream = { messages: [], keepAlives: 0, isOver: false };
  const over = readEvents(response, {
    event: ({ data }) => {
      if (data === "") return; // where the stream can be taken up from
      const message = JSON.parse(data) as Json;
      const { session, number } = newsIn(message);
      stream.messages.push(message);
      delivered.add(keyOf(session, number));
    },
    comment: () => {
      stream.keepAlives += 1;
    },
  });
  // In the end the gateway goes.
  void over.catch(() => undefined).then(() => (stream.isOver = true));
  return stream;
}

function newsOf(session: string, number: number): Json {
  const params = { level: "info", data: { session, number } };
  return { method: "notifications/message", params };
}

function newsIn({ params }: Json): { readonly session: string; readonly number: number } {
  return (params as { data: { session: string; number: number } }).data;
}

function keyOf(session: string, number: number): string {
  return `${session} ${number}`;
}

async function allHave(streams: readonly IdleStream[], count: number): Promise<void> {
  const have = (): number => streams.filter(({ messages }) => messages.length >= count).length;
  const what = (): string => `${count} messages on each stream; ${have()} have them`;
  await until(() => have() === streams.length, what);
}

/** What each stream has, by the session of the upstream that it is of. */
function numbersOn(streams: readonly IdleStream[]): Readonly<Record<string, readonly number[]>> {
  const numbers: Record<string, number[]> = {};
  for (const message of streams.flatMap(({ messages }) => messages)) {
    const { session, number } = newsIn(message);
    (numbers[session] ??= []).push(number);
  }
  return numbers;
}

function allTheSame<T>(keys: readonly string[], value: T): Readonly<Record<string, T>> {
  return Object.fromEntries(keys.map((key) => [key, value]));
}

/** What was counted once everything that opening a stream takes has been done. */
async function settledCosts(): Promise<Costs> {
  let costs = await readCosts(gateway.url);
  await until(async () => {
    const before = costs;
    await pause(2 * QUIET_MS);
    costs = await readCosts(gateway.url);
    return JSON.stringify(before) === JSON.stringify(costs);
  }, "nothing more to count");
  return costs;
}

/** What the process of the gateway holds, and what of it for each stream. */
function report(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): void {
  for (const [pid, bytes] of after) {
    const kib = (bytes - (before.get(pid) ?? 0)) / 1024;
    const total = (bytes / 1024 / 1024).toFixed(0);
    process.stdout.write(
      `workerd ${pid}: ${total} MiB, ${(kib / STREAMS).toFixed(1)} KiB for each idle stream\n`,
    );
  }
}
