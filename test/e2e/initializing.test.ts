/**
 * Opening a session costs nothing that stays: no Durable Object, no row, no request to the
 * upstream. Nor does an id that a client made up: it gets as far as the Worker.
 */

import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";

import { readCosts } from "../support/costs.ts";
import { inParallel } from "../support/in-parallel.ts";
import { type KillableGateway, startKillableGateway } from "../support/killable-gateway.ts";
import {
  getFrom,
  INITIALIZE,
  openRawSession,
  postTo,
  type RawSession,
  sessionWithId,
} from "../support/raw-session.ts";
import { type Seeded, seeded } from "../support/seeded.ts";
import { type StreamingUpstream, startStreamingUpstream } from "../support/streaming-upstream.ts";

const OPENINGS = 10_000;
const FORGERIES = 1000;
const AT_ONCE = 50;
/** One is right; a second may be under way before the answer to the first is known. */
const MAX_HANDSHAKES = 5;
/** An id may bear a key that another isolate is the first to know: the registry is asked, rarely. */
const LOOK_UP_MS = 10_000;
const TIMEOUT_MS = 900_000;
/** What a session id may consist of: visible ASCII. */
const VISIBLE = Array.from({ length: 94 }, (_, index) => String.fromCodePoint(0x21 + index));
const BASE64URL = VISIBLE.filter((character) => /[\w-]/.test(character));
const METHODS = ["POST", "GET", "DELETE"] as const;
const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

let upstream: StreamingUpstream;
let gateway: KillableGateway;

beforeAll(async () => {
  upstream = await startStreamingUpstream();
  gateway = await startKillableGateway({
    servers: { one: { url: upstream.url } },
    // A look at the server writes what it finds.
    limits: { requestsPerMinute: 1_000_000, looksPerStart: 0 },
    // What is recorded of calls costs rows of its own: test/integration/activity/costs.test.ts.
    vars: { COST_REPORT: "on", ACTIVITY: "off" },
  });
});

afterAll(async () => {
  await gateway.remove();
  await upstream.close();
});

/** The local platform keeps a file for each object that has come to life. */
async function sessionObjects(): Promise<readonly string[]> {
  const files = await readdir(gateway.storage, { recursive: true });
  const isObject = /-SessionObject\/[0-9a-f]{64}\.sqlite$/;
  return files.filter((file) => isObject.test(file)).toSorted();
}

test(
  `${OPENINGS} opened sessions construct no object and write no row`,
  { timeout: TIMEOUT_MS },
  async () => {
    const url = `${gateway.url}/mcp/one`;
    // Keys and the upstream's own handshake are fetched once.
    await openRawSession(url);
    const before = await readCosts(gateway.url);
    const objects = await sessionObjects();

    const startedAt = performance.now();
    const openings = await inParallel(OPENINGS, AT_ONCE, async (index) => {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
        },
        body: JSON.stringify({ ...INITIALIZE, id: index }),
      });
      const { id } = (await response.json()) as { id: unknown };
      const sessionId = response.headers.get("mcp-session-id") ?? "";
      return { isOpen: response.status === 200 && id === index, sessionId };
    });
    const seconds = (performance.now() - startedAt) / 1000;
    process.stdout.write(`${OPENINGS} sessions opened in ${seconds.toFixed(1)} s\n`);

    expect(openings.filter(({ isOpen }) => !isOpen)).toEqual([]);
    const ids = new Set(openings.map(({ sessionId }) => sessionId));
    expect(ids.size).toBe(OPENINGS);
    expect([...ids].filter((id) => !/^[\x21-\x7e]{16,}$/.test(id))).toEqual([]);
    const after = await readCosts(gateway.url);
    expect(after.objectsConstructed - before.objectsConstructed).toBe(0);
    expect(after.rowsWritten - before.rowsWritten).toBe(0);
    expect(after.alarmsSet - before.alarmsSet).toBe(0);
    expect(await sessionObjects()).toEqual(objects);
    const handshakes = upstream.received.filter(({ method }) => method === "initialize");
    expect(handshakes.length).toBeLessThanOrEqual(MAX_HANDSHAKES);
  },
);

test(
  `${FORGERIES} forged ids get the same 404, and wake nobody`,
  { timeout: TIMEOUT_MS },
  async () => {
    const url = `${gateway.url}/mcp/one`;
    const { id } = await openRawSession(url);
    const deleted = await openRawSession(url);
    await fetch(url, { method: "DELETE", headers: deleted.headers });
    const body = await (await postTo(deleted, LIST)).text();
    const before = await readCosts(gateway.url);
    const objects = await sessionObjects();

    const dice = seeded(3);
    const startedAt = performance.now();
    const answers = await inParallel(FORGERIES, AT_ONCE, async (index) => {
      const forged = index % 10 === 0 ? garbage(dice) : mutated(id, index % id.length, dice);
      const session = sessionWithId(url, forged);
      const response = await askedBy(METHODS[index % METHODS.length], session);
      return { forged, status: response.status, body: await response.text() };
    });

    const wrong = answers.filter((answer) => answer.status !== 404 || answer.body !== body);
    expect(wrong).toEqual([]);
    const after = await readCosts(gateway.url);
    const lookUps = 2 + Math.floor((performance.now() - startedAt) / LOOK_UP_MS);
    expect(after.objectRequests - before.objectRequests).toBeLessThanOrEqual(lookUps);
    expect(await sessionObjects()).toEqual(objects);
  },
);

function askedBy(method: string | undefined, session: RawSession): Promise<Response> {
  if (method === "POST") return postTo(session, LIST);
  if (method === "GET") return getFrom(session);
  return fetch(session.url, { method: "DELETE", headers: session.headers });
}

/** One character is another one; the id keeps its form. */
function mutated(id: string, at: number, { pick }: Seeded): string {
  const others = BASE64URL.filter((character) => character !== id[at]);
  return id.slice(0, at) + pick(others) + id.slice(at + 1);
}

function garbage({ int, pick }: Seeded): string {
  return Array.from({ length: int(1, 1000) }, () => pick(VISIBLE)).join("");
}
