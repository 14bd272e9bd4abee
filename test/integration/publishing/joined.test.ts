/** What a person publishes joins their `/mcp`, beside the one server of the operator's. */

// Has an isolate of its own: it configures the gateway anew.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, expect, test, vi } from "vitest";

import { ConnectorObject } from "../../../durable-objects/connector-object.ts";
import type { StoredSession } from "../../../durable-objects/session-store.ts";
import { readStored } from "../../../durable-objects/stored-json.ts";
import { writeClaims } from "../../../src/sessions/session-id.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";
import { until, within } from "../bounded.ts";
import { modern, send, Session } from "../client.ts";
import { beginWith } from "../configuration.ts";
import { EventReader, responseIn } from "../event-reader.ts";
import { takeOnly } from "../only-server.ts";
import { claimsOf, evict, objectOf } from "../session-object.ts";
import type { Upstream } from "../upstream.ts";
import { connectLaptop, type Laptop } from "./laptop.ts";
import { legacyServer, text, type Tool } from "./local-servers.ts";

const MCP = { mcp: "/mcp" };
const say: Tool = ({ params }) => text(`said ${JSON.stringify(params?.["arguments"])}`);
let upstream: Upstream;

afterEach(() => void vi.restoreAllMocks());
beforeAll(async () => {
  upstream = await takeOnly({
    ...{ server: "dual", capabilities: { tools: {} } },
    tools: ["work", "notes.search"].map((name) => ({ name, inputSchema: { type: "object" } })),
  });
  await beginWith({ PUBLISHING: "on" });
});

function namesIn(result: Json | undefined): readonly unknown[] {
  return ((result?.["tools"] ?? []) as readonly Json[]).map(({ name }) => name);
}

async function listed(): Promise<readonly unknown[]> {
  return namesIn((await responseIn(await modern(MCP, "tools/list"))).result);
}

const OWN = ["work", "notes.search"];
const JOINED = [...OWN, "my-files__say"];

function equal(one: readonly unknown[], other: readonly unknown[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

async function publish(): Promise<Laptop> {
  const laptop = await connectLaptop(send);
  await within(laptop.publish("files", legacyServer({ tools: { say } })), "a welcome");
  return laptop;
}

/** Changes of other lists may come before. */
async function hears(stream: EventReader): Promise<void> {
  const changed = "notifications/tools/list_changed";
  for (;;) if ((await stream.message()).method === changed) return;
}

/** An isolate may know what is published some seconds later. */
function lists(wanted: readonly unknown[]): Promise<true> {
  return until(
    async () => (equal(await listed(), wanted) ? true : undefined),
    JSON.stringify(wanted),
  );
}

async function listTools(session: Session): Promise<readonly unknown[]> {
  return namesIn((await responseIn(await session.request("tools/list"))).result);
}

async function listen(): Promise<EventReader> {
  const filter = { notifications: { toolsListChanged: true } };
  const reader = new EventReader(await modern(MCP, "subscriptions/listen", filter));
  expect((await reader.message()).method).toBe("notifications/subscriptions/acknowledged");
  return reader;
}

// The first one: what is announced within a second of something else comes in several pieces.
test("a session that could not read what its person publishes is told again", async () => {
  const session = await Session.inUse("/mcp");
  const stream = await session.listen();
  const list = vi.spyOn(ConnectorObject.prototype, "list");
  list.mockRejectedValueOnce(new Error("It is being restarted"));
  await publish();
  await hears(stream);
  expect(await listTools(session)).toEqual(JOINED);
  expect(list.mock.settledResults[0]?.type).toBe("rejected");
  await session.delete();
  await env.CONNECTORS.getByName("local").end("files");
  await lists(OWN);
});

test("a session and a listener hear that a server comes and goes, and others keep their names", async () => {
  const session = await Session.inUse("/mcp");
  const inSession = (): Promise<readonly unknown[]> => listTools(session);
  expect(await inSession()).toEqual(OWN);
  const stream = await session.listen();
  const listener = await listen();

  await publish();
  await hears(stream);
  expect(await inSession()).toEqual(JOINED);
  await hears(listener);
  expect(await listed()).toEqual(JOINED);

  const called = await responseIn(await session.callTool("my-files__say", { arguments: { n: 1 } }));
  expect(called.result).toMatchObject(text('said {"n":1}'));
  const own = await responseIn(
    await modern(MCP, "tools/call", { name: "notes.search", arguments: {} }),
  );
  expect(own.error).toBeUndefined();
  expect(await upstream.sent("tools/call")).toHaveLength(1);

  await env.CONNECTORS.getByName("local").end("files");
  await hears(stream);
  expect(await inSession()).toEqual(OWN);
  await lists(OWN);
});

test("a session and a listener hear of a server that has come just before they listened", async () => {
  const session = await Session.inUse("/mcp");
  expect(await listTools(session)).toEqual(OWN);
  // This isolate knows of no server for some seconds yet.
  await publish();
  const [stream, listener] = [await session.listen(), await listen()];
  await hears(stream);
  expect(await listTools(session)).toEqual(JOINED);
  await hears(listener);
  await lists(JOINED);
});

test("a message for a stream that is older than what its person publishes takes nothing away", async () => {
  await publish();
  await lists(JOINED);
  const session = await Session.inUse("/mcp");
  await responseIn(await session.callTool("my-files__say"));
  await evict(session);
  const object = await objectOf(session);
  // The id says who the caller is, and no more, as when its person did not publish yet.
  const claims = writeClaims(await claimsOf(session.id));
  await object.receiveWatched(claims, JSON.stringify({ slug: upstream.slug, isOpen: true }));
  const published = await runInDurableObject(object, (_instance, { storage }) => {
    const stored = readStored(storage.kv.get("session")) as StoredSession | undefined;
    return stored?.published?.names;
  });
  expect(published).toEqual(["files"]);
  await session.delete();
  await env.CONNECTORS.getByName("local").end("files");
  await lists(OWN);
});
