/**
 * Session ids that are not to be served: all are met with the same bytes, and of those that are
 * forged, no object ever hears.
 */

// Has an isolate of its own: it counts the costs of everything.
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeAll, describe, test, vi } from "vitest";

import { readCosts } from "../../../src/observability/costs.ts";
import type { SessionClaims } from "../../../src/sessions/session-id.ts";
import { post, send, Session } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { claimsOf, evict, mint, objectOf, sseSessionId, storedIn } from "../session-object.ts";
import { SseSession } from "../sse-client.ts";
import { methodOf, Upstream } from "../upstream.ts";

const PING = { jsonrpc: "2.0", id: 5, method: "ping" } as const;
const NOTICE = { jsonrpc: "2.0", method: "notifications/roots/list_changed" } as const;
const CALL = { jsonrpc: "2.0", id: 6, method: "tools/call", params: { name: "work" } } as const;
const DAY_MS = 86_400_000;

let here: Upstream;
/** A session that is in use, so that there is an object to be woken. */
let session: Session;
let claims: SessionClaims;

beforeAll(async () => {
  here = await Upstream.take({ server: "legacy" });
  session = await Session.inUse(here.mcp);
  claims = await claimsOf(session.id);
});

/** Everything that can be asked with an id, each answer as its status, headers and bytes. */
async function answersTo(id: string): Promise<readonly string[]> {
  const headers = { "Mcp-Session-Id": id };
  const stream = { ...headers, Accept: "text/event-stream" };
  const answers: string[] = [];
  for (const response of [
    await post(here.mcp, PING, headers),
    await post(here.mcp, NOTICE, headers),
    await post(here.mcp, CALL, headers),
    await post(here.mcp, { jsonrpc: "2.0", id: 1, result: {} }, headers),
    await post(here.mcp, { jsonrpc: "2.0", method: "notifications/initialized" }, headers),
    await send(here.mcp, { headers: stream }),
    await send(here.mcp, { headers: { ...stream, "Last-Event-ID": "g1.1-000000000000" } }),
    await send(here.mcp, { method: "DELETE", headers }),
  ]) {
    answers.push(JSON.stringify([response.status, [...response.headers], await response.text()]));
  }
  return answers;
}

/** What nobody knows: the measure of all others. */
async function notFound(): Promise<string> {
  const [answer = "", ...others] = new Set(await answersTo("nobody"));
  if (others.length > 0 || !answer.startsWith("[404")) throw new Error(`Not alike: ${answer}`);
  return answer;
}

/** Has the gateway ask for its keys now, if it is going to: after a while, or under another `env`. */
async function knowKeys(): Promise<void> {
  await (await post(here.mcp, PING, session.headers)).text();
}

/** Each character of an id in turn is another one. */
function* flipped(id: string): Generator<string, void, void> {
  for (let n = 0; n < id.length; n++) {
    const other = id[n] === "A" ? "B" : "A";
    yield id.slice(0, n) + other + id.slice(n + 1);
  }
}

describe("an id that is not served gets the same bytes, and wakes no object:", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  const IDS: readonly { name: string; make: () => Promise<string> }[] = [
    { name: "empty", make: () => Promise.resolve("") },
    { name: "an object's own", make: () => Promise.resolve(claims.object) },
    { name: "an upstream's", make: async () => (await here.sessions())[0] ?? "" },
    { name: "too long", make: () => Promise.resolve("a".repeat(6000)) },
    { name: "cut short", make: () => Promise.resolve(session.id.slice(0, -1)) },
    { name: "with more after it", make: () => Promise.resolve(`${session.id}A`) },
    { name: "twice", make: () => Promise.resolve(`${session.id}, ${session.id}`) },
    {
      name: "of another principal",
      make: () => mint({ ...claims, principal: "somebody-else" }),
    },
    { name: "of nobody", make: () => mint({ ...claims, principal: "" }) },
    { name: "of another endpoint", make: () => mint({ ...claims, route: "/mcp/elsewhere" }) },
    { name: "of the endpoint of all", make: () => mint({ ...claims, route: "/mcp" }) },
    {
      name: "of the other transport",
      make: () => {
        const { client: _client, ...others } = claims;
        return mint(others);
      },
    },
    {
      name: "expired",
      make: () => mint({ ...claims, expiresAt: Math.floor(Date.now() / 1000) }),
    },
  ];

  test.for(IDS)("$name", async ({ make }, { expect }) => {
    const expected = await notFound();
    const id = await make();
    await knowKeys();
    const before = readCosts();
    expect([...new Set(await answersTo(id))]).toEqual([expected]);
    expect(readCosts()).toEqual(before);
  });

  test("one with any character changed", async ({ expect }) => {
    const expected = await notFound();
    await knowKeys();
    const before = readCosts();
    for (const id of flipped(session.id)) {
      const response = await post(here.mcp, CALL, { "Mcp-Session-Id": id });
      const headers = [...response.headers];
      expect(JSON.stringify([response.status, headers, await response.text()])).toBe(expected);
    }
    // One look at the keys at most, for an id that names a key that is not known here.
    const { objectRequests, objectsConstructed, rowsWritten } = readCosts();
    expect(objectRequests - before.objectRequests).toBeLessThanOrEqual(1);
    expect([objectsConstructed, rowsWritten]).toEqual([
      before.objectsConstructed,
      before.rowsWritten,
    ]);
  });

  test("one that expired after its last use", async ({ expect }) => {
    const expected = await notFound();
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(claims.expiresAt * 1000 - 1);
    expect((await post(here.mcp, PING, session.headers)).status).toBe(200);
    vi.setSystemTime(claims.expiresAt * 1000);
    await knowKeys();
    const before = readCosts();
    expect([...new Set(await answersTo(session.id))]).toEqual([expected]);
    expect(readCosts()).toEqual(before);
  });

  test("one that was deleted", async ({ expect }) => {
    const expected = await notFound();
    const deleted = await Session.inUse(here.mcp);
    await (await deleted.delete()).text();
    expect([...new Set(await answersTo(deleted.id))]).toEqual([expected]);
  });

  test("one at the endpoint of HTTP+SSE", async ({ expect }) => {
    const sse = await SseSession.open(here.sse);
    const own = await claimsOf(sseSessionId(sse));
    const sink = (id: string): Promise<Response> =>
      post(`${here.sse}/message?sessionId=${encodeURIComponent(id)}`, CALL);
    const seen = new Set<string>();
    const before = readCosts();
    for (const id of [
      "nobody",
      session.id,
      await mint({ ...own, principal: "somebody-else" }),
      await mint({ ...own, route: "/sse/elsewhere" }),
      await mint({ ...own, expiresAt: 1 }),
    ]) {
      const response = await sink(id);
      seen.add(JSON.stringify([response.status, [...response.headers], await response.text()]));
    }
    expect([...seen]).toEqual([await notFound()]);
    expect(readCosts().objectsConstructed).toBe(before.objectsConstructed);
    expect((await sink(sseSessionId(sse))).status).toBe(202);
    await sse.stream.cancel();
  });
});

describe("an id that is authentic", () => {
  test("whose object was emptied is still served, with a new session at the upstream", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const lost = await Session.inUse(upstream.mcp, { capabilities: { sampling: {} } });
    await runInDurableObject(await objectOf(lost), (_instance, { storage }) => storage.deleteAll());
    await evict(lost);
    expect(await responseIn(await lost.callTool())).toHaveProperty("result");
    expect(await upstream.sessions()).toHaveLength(2);
    const again = (await upstream.used()).filter((record) => methodOf(record) === "initialize")[1];
    expect(again?.body?.params).toMatchObject({
      protocolVersion: "2025-11-25",
      capabilities: { sampling: {} },
    });
    expect((await storedIn(lost)).keys).toEqual(["session"]);
  });

  test("whose object never existed is served", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const opened = await claimsOf((await Session.open(upstream.mcp)).id);
    const issuedAt = Math.floor(Date.now() / 1000) - (300 * DAY_MS) / 1000;
    const id = await mint({ ...opened, issuedAt });
    const response = await post(upstream.mcp, CALL, { "Mcp-Session-Id": id });
    expect(await responseIn(response)).toHaveProperty("result");
  });

  test("of an endpoint that a deployment removed is unknown", async ({ expect }) => {
    const route = "/mcp/taken-away";
    const response = await post(route, CALL, {
      "Mcp-Session-Id": await mint({ ...claims, route }),
    });
    expect(response.status).toBe(404);
    await response.text();
  });
});
