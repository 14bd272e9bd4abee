/**
 * Clients that come back again and again while their server has news, with the old connection
 * broken or still open: each receives everything once and in order, whichever object watches the server at that
 * moment, the session itself or, while it sleeps, the Worker.
 */

import { afterAll, beforeAll, expect, test } from "vitest";

import type { Json } from "../support/clients-face.ts";
import { inParallel } from "../support/in-parallel.ts";
import { type KillableGateway, startKillableGateway } from "../support/killable-gateway.ts";
import { getFrom, openRawSession, type RawSession } from "../support/raw-session.ts";
import { readEvents } from "../support/read-events.ts";
import { seeded } from "../support/seeded.ts";
import { type StreamingUpstream, startStreamingUpstream } from "../support/streaming-upstream.ts";
import { pause, until } from "../support/until.ts";

const CLIENTS = 40;
const NEWS = 60;
const RETURNS = 5;
const QUIET_MS = 1000;
/** The watch is with the Worker by then, and the object still awake; or with the session. */
const NAPS = [
  { what: "asleep", ms: 2 * QUIET_MS },
  { what: "awake", ms: 0 },
] as const;

/** Sessions of an earlier test: their streams may come and go still. */
const earlier = new Set<string>();

let upstream: StreamingUpstream;
let gateway: KillableGateway;

beforeAll(async () => {
  upstream = await startStreamingUpstream();
  gateway = await startKillableGateway({
    servers: { one: { url: upstream.url } },
    limits: { quietSeconds: QUIET_MS / 1000 },
  });
});

afterAll(async () => {
  await gateway.remove();
  await upstream.close();
});

/** Hears the news of one session on one connection at a time. */
class Listener {
  readonly received: number[] = [];
  readonly #session: RawSession;
  #lastEventId: string | undefined;
  #connection = new AbortController();

  constructor(session: RawSession) {
    this.#session = session;
  }

  /** Opens a new connection in place of the last one. @param isCut whether that breaks before. */
  async open(isCut: boolean): Promise<void> {
    const older = this.#connection;
    if (isCut) older.abort();
    const connection = new AbortController();
    this.#connection = connection;
    const response = await getFrom(this.#session, this.#lastEventId, connection.signal);
    if (!response.ok) throw new Error(`No stream: ${response.status} ${await response.text()}`);
    const event = ({ id, data }: { id: string | undefined; data: string }): void => {
      // What comes late on a connection that was given up is not asked for.
      if (connection !== this.#connection) return;
      this.#lastEventId = id ?? this.#lastEventId;
      if (data !== "") this.received.push(numberIn(JSON.parse(data) as Json));
    };
    readEvents(response, { event }).catch(() => undefined); // it was cut
  }
}

function newSessions(): readonly string[] {
  return upstream.listeners.filter((id) => !earlier.has(id));
}

function numberIn({ params }: Json): number {
  return (params as { data: { number: number } }).data.number;
}

test.for(NAPS)("clients that come back to a session that is $what miss nothing", async ({ ms }) => {
  const listeners = await inParallel(CLIENTS, CLIENTS / 4, async () => {
    const listener = new Listener(await openRawSession(`${gateway.url}/mcp/one`));
    await listener.open(false);
    return listener;
  });
  await until(() => newSessions().length === CLIENTS, "every stream is heard at the upstream");
  const own = newSessions();
  for (const id of own) earlier.add(id);
  await pause(ms);

  const dice = seeded(5);
  await Promise.all([
    ...own.map(async (session) => {
      for (let number = 1; number <= NEWS; number++) {
        const params = { level: "info", data: { number } };
        upstream.announce(session, { method: "notifications/message", params });
        await pause(dice.int(2, 60));
      }
    }),
    ...listeners.map(async (listener) => {
      for (let count = 0; count < RETURNS; count++) {
        await pause(dice.int(50, 400));
        await listener.open(dice.int(0, 1) === 0);
      }
    }),
  ]);

  const everything = Array.from({ length: NEWS }, (_, index) => index + 1);
  await until(
    () => listeners.every(({ received }) => received.includes(NEWS)),
    () => `all is heard by ${listeners.filter(({ received }) => received.includes(NEWS)).length}`,
  );
  expect(listeners.map(({ received }) => received)).toEqual(listeners.map(() => everything));
});
