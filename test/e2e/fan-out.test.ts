/**
 * One update of one resource, with many subscribers: legacy sessions and modern listeners.
 * The server is asked once, everybody is told once, and a gateway that is killed while it tells them
 * goes on with it when it is back.
 */

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Json } from "../support/clients-face.ts";
import { readCosts } from "../support/costs.ts";
import { inParallel } from "../support/in-parallel.ts";
import { type KillableGateway, startKillableGateway } from "../support/killable-gateway.ts";
import { getFrom, openRawSession, postTo, type RawSession } from "../support/raw-session.ts";
import { readEvents } from "../support/read-events.ts";
import { type StreamingUpstream, startStreamingUpstream } from "../support/streaming-upstream.ts";
import { until } from "../support/until.ts";

const COUNT = 100;
const AT_ONCE = 10;
const BRANCHES = 32;
const WATCHED = "test://watched";
const UPDATED = "notifications/resources/updated";
const MODERN = "2026-07-28";
const TIMEOUT_MS = 240_000;

let upstream: StreamingUpstream;
let gateway: KillableGateway;

beforeAll(async () => {
  upstream = await startStreamingUpstream();
  gateway = await startKillableGateway({
    servers: { one: { url: upstream.url, era: "legacy" } },
    limits: {
      requestsPerMinute: 100_000,
      listenStreamsPerPrincipal: 1000,
      streamsPerPerson: 10_000,
    },
    vars: { COST_REPORT: "on" },
  });
});

afterAll(async () => {
  await gateway.remove();
  await upstream.close();
});

/** Somebody's stream, and how often it said that the resource has changed. */
class Stream {
  updates = 0;
  lastEventId: string | undefined;
  isOver = false;

  constructor(response: Response) {
    if (!response.ok) throw new Error(`No stream: ${response.status}`);
    const over = readEvents(response, { event: (event) => this.#take(event) });
    // In the end the gateway goes.
    void over.catch(() => undefined).then(() => (this.isOver = true));
  }

  #take({ id, data }: { readonly id: string | undefined; readonly data: string }): void {
    this.lastEventId = id ?? this.lastEventId;
    if (data === "") return;
    const { method, params } = JSON.parse(data) as { method?: string; params?: Json };
    if (method === UPDATED && params?.["uri"] === WATCHED) this.updates += 1;
  }
}

interface Subscribed {
  readonly session: RawSession;
  readonly stream: Stream;
}

async function subscribe(): Promise<Subscribed> {
  const session = await openRawSession(`${gateway.url}/mcp/one`);
  const stream = new Stream(await getFrom(session));
  const params = { uri: WATCHED };
  const message = { jsonrpc: "2.0", id: 1, method: "resources/subscribe", params };
  const answer: unknown = await (await postTo(session, message)).json();
  expect(answer).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  return { session, stream };
}

async function listen(): Promise<Stream> {
  const method = "subscriptions/listen";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { _meta, notifications: { resourceSubscriptions: [WATCHED] } };
  const response = await fetch(`${gateway.url}/mcp/one`, {
    method: "POST",
    headers: {
      Accept: "application/json, text/event-stream",
      "Content-Type": "application/json",
      "MCP-Protocol-Version": MODERN,
      "Mcp-Method": method,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return new Stream(response);
}

/** Where the upstream was asked for notifications of the resource. */
function watchers(): readonly string[] {
  const asked = upstream.received.filter(({ method }) => method === "resources/subscribe");
  return asked.map(({ session }) => session);
}

function announce(): void {
  upstream.announce(watchers().at(-1) ?? "", { method: UPDATED, params: { uri: WATCHED } });
}

function countOf(streams: readonly Stream[], updates: number): number {
  return streams.filter((stream) => stream.updates >= updates).length;
}

async function allHave(streams: readonly Stream[], updates: number): Promise<void> {
  const what = (): string => `${updates} updates on each stream; ${countOf(streams, updates)} have`;
  await until(() => countOf(streams, updates) === streams.length, what, TIMEOUT_MS / 2);
}

describe("an update", { timeout: TIMEOUT_MS }, () => {
  test(`reaches ${COUNT} sessions and ${COUNT} listeners, each once`, async () => {
    const first = await subscribe(); // from here on the server is watched
    const sessions = [first, ...(await inParallel(COUNT - 1, AT_ONCE, subscribe))];
    const listeners = await inParallel(COUNT, AT_ONCE, listen);
    const streams = [...sessions.map(({ stream }) => stream), ...listeners];
    expect(watchers()).toHaveLength(1);
    const requests: number[] = [];
    for (let updates = 1; updates <= 3; updates += 1) {
      const before = await readCosts(gateway.url);
      announce();
      await allHave(streams, updates);
      const after = await readCosts(gateway.url);
      requests.push(after.objectRequests - before.objectRequests);
    }
    // What an object does at times for itself may fall into one of them, the slower the machine the likelier.
    expect(Math.min(...requests)).toBeLessThanOrEqual(BRANCHES + COUNT);
    expect(Math.min(...requests)).toBeGreaterThanOrEqual(COUNT);
    for (const stream of streams) expect(stream.updates).toBe(3);
    expect(streams.filter(({ isOver }) => isOver)).toEqual([]);
    expect(watchers()).toHaveLength(1);
  });

  test("reaches every session though the gateway is killed in the middle", async () => {
    const first = await subscribe();
    const sessions = [first, ...(await inParallel(COUNT - 1, AT_ONCE, subscribe))];
    const streams = sessions.map(({ stream }) => stream);
    announce();
    await until(() => countOf(streams, 1) > 0, "somebody has it");
    await gateway.kill();
    const had = countOf(streams, 1);
    await gateway.start();
    const resumed = await inParallel(COUNT, AT_ONCE, async (index) => {
      const { session, stream } = sessions[index] ?? first;
      return new Stream(await getFrom(session, stream.lastEventId));
    });
    const whole = (): number =>
      streams.filter(({ updates }, index) => updates + (resumed[index]?.updates ?? 0) > 0).length;
    await until(
      () => whole() === COUNT,
      () => `${had} had it, and ${whole()} of ${COUNT} have it`,
    );
  });
});
