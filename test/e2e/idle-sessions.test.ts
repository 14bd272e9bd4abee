/**
 * A session is served for as long as its client wants it: whatever became of the gateway, of its
 * memory, of its storage, or of the upstream's own session in the meantime. Only what the client
 * has ended is gone.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, type ExpectStatic } from "vitest";

import { endpointFor, test } from "../support/clients.ts";
import { type KillableGateway, startKillableGateway } from "../support/killable-gateway.ts";
import { getFrom, openRawSession, postTo, type RawSession } from "../support/raw-session.ts";
import {
  type Received,
  type StreamingUpstream,
  startStreamingUpstream,
} from "../support/streaming-upstream.ts";
import { textOf } from "./outcome.ts";

const WATCHED = "test://watched";
/** 32 bytes in base64url, as an operator would make them. */
const SESSION_KEYS = Buffer.from("0123456789abcdef0123456789abcdef").toString("base64url");

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const CALL = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "quick" } };

let upstream: StreamingUpstream;

beforeAll(async () => {
  upstream = await startStreamingUpstream();
});

afterAll(() => upstream.close());

/** What one of the upstream's sessions was asked, in order, without the requests of another. */
function askedOf(session: string | undefined): readonly string[] {
  return upstream.received.filter((one) => one.session === session).map(({ method }) => method);
}

function lastCall(): Received | undefined {
  return upstream.received.findLast(({ method }) => method === "tools/call");
}

function callsOf(name: string): number {
  return upstream.received.filter(({ params }) => params["name"] === name).length;
}

describe("a gateway that is killed and started again on its storage", () => {
  let gateway: KillableGateway;

  beforeAll(async () => {
    gateway = await startKillableGateway({ servers: { one: { url: upstream.url } } });
  });

  afterAll(() => gateway.remove());

  async function restart(): Promise<void> {
    await gateway.kill();
    await gateway.start();
  }

  test("serves a session under its id, on the upstream session that it had", async ({
    expect,
    connect,
  }) => {
    const client = await connect("v1-http", endpointFor("v1-http", "one", gateway.url));
    const { sessionId } = client;
    await client.callTool("before");
    const before = lastCall()?.session;

    await restart();

    expect(textOf(await client.callTool("after"))).toBe("done");
    expect(client.sessionId).toBe(sessionId);
    expect(lastCall()?.session).toBe(before);
    expect(callsOf("after")).toBe(1);
  });

  test("serves a session that its upstream has forgotten, as it was", async ({
    expect,
    connect,
  }) => {
    const client = await connect("v1-http", endpointFor("v1-http", "one", gateway.url));
    const { sessionId } = client;
    await client.setLogLevel("warning");
    await client.watch(WATCHED);
    await client.callTool("warm-up");
    const before = lastCall()?.session;

    await gateway.kill();
    upstream.forgetSessions();
    await gateway.start();

    expect(textOf(await client.callTool("after-the-loss"))).toBe("done");
    expect(client.sessionId).toBe(sessionId);
    expect(callsOf("after-the-loss")).toBe(1);
    const now = lastCall()?.session;
    expect(now).not.toBe(before);
    expect(askedOf(now)).toEqual([
      "initialize",
      "notifications/initialized",
      "logging/setLevel",
      "resources/subscribe",
      "tools/call",
    ]);
    const restored = upstream.received.filter(({ session }) => session === now);
    expect(restored.map(({ params }) => params)).toMatchObject([
      { protocolVersion: "2025-11-25" },
      {},
      { level: "warning" },
      { uri: WATCHED },
      { name: "after-the-loss" },
    ]);
  });

  test("does not serve a session that its client has ended", async ({ expect }) => {
    const session = await openRawSession(`${gateway.url}/mcp/one`);
    const kept = await openRawSession(`${gateway.url}/mcp/one`);
    const { url, headers } = session;
    expect((await postTo(session, CALL)).status).toBe(200);
    expect((await fetch(url, { method: "DELETE", headers })).status).toBe(200);
    await expectGone(session, expect);
    await restart();
    await expectGone(session, expect);
    expect((await postTo(kept, LIST)).status).toBe(200);
  });

  test("does not serve a session that was ended before its first call", async ({ expect }) => {
    const session = await openRawSession(`${gateway.url}/mcp/one`);
    const { url, headers } = session;
    expect((await fetch(url, { method: "DELETE", headers })).status).toBe(200);
    await expectGone(session, expect);
    await restart();
    await expectGone(session, expect);
  });
});

/** Every method but those that are answered without a look at the session's state. */
async function expectGone(session: RawSession, expect: ExpectStatic): Promise<void> {
  const { url, headers } = session;
  const notification = { jsonrpc: "2.0", method: "notifications/roots/list_changed" };
  const setLevel = { ...LIST, method: "logging/setLevel", params: { level: "info" } };
  const responses = [
    await postTo(session, LIST),
    await postTo(session, CALL),
    await postTo(session, setLevel),
    await postTo(session, notification),
    await getFrom(session),
    await getFrom(session, "1"),
    await fetch(url, { method: "DELETE", headers }),
  ];
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 404));
  const bodies = await Promise.all(responses.map((response) => response.text()));
  expect(new Set(bodies).size).toBe(1);
}

describe.each([
  { what: "keys of its own", vars: {}, status: 404 },
  { what: "keys that the operator has set", vars: { SESSION_KEYS }, status: 200 },
])("a gateway that has lost its storage, with $what", ({ vars, status }) => {
  test(`answers an old session with ${status}`, async ({ expect, onTestFinished }) => {
    const elsewhere = await mkdtemp(join(tmpdir(), "edgeway-elsewhere-"));
    const servers = { one: { url: upstream.url } };
    const gateway = await startKillableGateway({ servers, vars });
    onTestFinished(async () => {
      await gateway.remove();
      await rm(elsewhere, { recursive: true, force: true });
    });
    const session = await openRawSession(`${gateway.url}/mcp/one`);
    expect((await postTo(session, LIST)).status).toBe(200);

    await gateway.kill();
    await gateway.start(elsewhere);

    const response = await postTo(session, LIST);
    const body = await response.text();
    expect(response.status, body).toBe(status);
    if (status === 200) expect(body).toContain('"name":"stream"');
  });
});
