/**
 * The stream of what belongs to no request, handed over between the session's object and whoever
 * holds the client's stream. The server gives no event ids, so what it says to nobody is lost: the
 * next watch is open before the last one is closed.
 */

import { describe, test } from "vitest";

import type { Reaction, Recorded } from "../../support/scripted-upstream-script.ts";
import { CAPABILITIES } from "../asking.ts";
import { until } from "../bounded.ts";
import { Session } from "../client.ts";
import { writeClaims } from "../../../src/sessions/session-id.ts";
import { responseIn } from "../event-reader.ts";
import { setLimits } from "../own-limits.ts";
import { claimsOf, evict, objectOf } from "../session-object.ts";
import { ANSWER, event, jsonOf, streamOf, Upstream } from "../upstream.ts";

// A question may wait for longer than a session is quiet before its watch is handed over.
setLimits({ askSeconds: 60 });

const NOTE = { method: "notifications/n", params: { n: 1 } } as const;
const NEVER = { gate: "never" } as const;

/** A stream that says something when the test has it. */
function saysAt(gate: string): Reaction {
  return streamOf({ gate }, event(NOTE), NEVER);
}

/** The same, held back when it is asked for; the one before it says something at that moment. */
function heldAfter(before: string, heldBy: string, gate: string): Reaction {
  return { ...saysAt(gate), opens: before, heldBy };
}

async function opens(upstream: Upstream, count: number): Promise<readonly Recorded[]> {
  return upstream.receives("GET", count);
}

/** Waits until a stream of the server's is closed by the gateway. */
async function isClosed(upstream: Upstream, index: number): Promise<void> {
  await until(
    async () => ((await upstream.sent("GET"))[index]?.isCutOff === true ? true : undefined),
    "the stream to be closed",
  );
}

describe("the messages of a server without event ids arrive", () => {
  test("while its stream goes from the object to the Worker", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { GET: [saysAt("say"), heldAfter("say", "second", "say-more")] },
    });
    const session = await Session.inUse(upstream.mcp);
    const stream = await session.listen();
    await opens(upstream, 2);
    expect(await stream.message()).toMatchObject(NOTE);
    await upstream.open("second");
    await isClosed(upstream, 0);
    await upstream.open("say-more");
    expect(await stream.message()).toMatchObject(NOTE);
    expect((await upstream.sent("GET"))[1]?.isCutOff).toBe(false);
    await stream.cancel();
  });

  test("while its stream goes from the Worker to the object", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { GET: [streamOf(NEVER), saysAt("say"), heldAfter("say", "third", "say-more")] },
    });
    const session = await Session.inUse(upstream.mcp);
    const first = await session.listen();
    await opens(upstream, 2);
    await isClosed(upstream, 0);
    const second = await session.listen();
    await opens(upstream, 3);
    expect(await second.message()).toMatchObject(NOTE);
    await upstream.open("third");
    await isClosed(upstream, 1);
    await upstream.open("say-more");
    expect(await second.message()).toMatchObject(NOTE);
    await first.cancel();
    await second.cancel();
  });
});

test("a server that allows one stream at a time has the old one closed before the next opens", async ({
  expect,
}) => {
  const conflict: Reaction = { ...jsonOf({ error: { code: -32000, message: "Conflict" } }, 409) };
  const upstream = await Upstream.take({
    server: "legacy",
    reactions: { GET: [streamOf(NEVER), conflict, saysAt("say")] },
  });
  const session = await Session.inUse(upstream.mcp);
  const stream = await session.listen();
  await opens(upstream, 3);
  await isClosed(upstream, 0);
  await upstream.open("say");
  expect(await stream.message()).toMatchObject(NOTE);
  await stream.cancel();
});

/** Another session is handed over meanwhile, though it began later. */
async function anotherIsHandedOver(): Promise<void> {
  const upstream = await Upstream.take({ server: "legacy" });
  const session = await Session.inUse(upstream.mcp);
  const stream = await session.listen();
  await opens(upstream, 2);
  await stream.cancel();
}

describe("nothing is handed over", () => {
  test("while a call runs", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [{ heldBy: "answer", ...streamOf(event(ANSWER)) }] },
    });
    const session = await Session.inUse(upstream.mcp);
    const stream = await session.listen();
    await opens(upstream, 1);
    const call = session.callTool();
    await upstream.receives("tools/call");
    await anotherIsHandedOver();
    expect(await upstream.sent("GET")).toHaveLength(1);
    await upstream.open("answer");
    await opens(upstream, 2);
    await (await call).text();
    await stream.cancel();
  });

  test("while a question is open", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp, { capabilities: CAPABILITIES });
    const stream = await session.listen();
    await upstream.send({ id: 7, method: "roots/list" });
    const ask = await stream.message();
    await anotherIsHandedOver();
    expect(await upstream.sent("GET")).toHaveLength(1);
    await session.answer(ask.id, { result: { roots: [] } });
    await opens(upstream, 2);
    await stream.cancel();
  });
});

test("a server that could not be reached is tried again without a call", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "legacy" });
  const session = await Session.open(upstream.mcp);
  await upstream.receives("DELETE"); // the session that introduced it is over
  const down: Reaction = { status: 503 };
  const before = (await upstream.sent("initialize")).length;
  await upstream.script({ server: "legacy", reactions: { initialize: [down, down, down] } });
  const stream = await session.listen();
  await opens(upstream, 1);
  expect(await upstream.sent("initialize")).toHaveLength(before + 4);
  await upstream.send(NOTE);
  expect(await stream.message()).toMatchObject(NOTE);
  await responseIn(await session.callTool());
  await stream.cancel();
});

test("a message of a watch is written once, though the object died before it said so and went on with the next", async ({
  expect,
}) => {
  const upstream = await Upstream.take({ server: "legacy" });
  const session = await Session.inUse(upstream.mcp);
  const claims = writeClaims(await claimsOf(session.id));
  const handIn = async (n: number, isRepeated?: true): Promise<void> => {
    const message = { jsonrpc: "2.0", method: "notifications/n", params: { n } };
    const watched = { slug: upstream.slug, parsed: { kind: "notification", message } };
    const object = await objectOf(session);
    await object.receiveWatched(
      claims,
      JSON.stringify({ ...watched, lastEventId: `e-${n}`, isRepeated }),
    );
  };
  await handIn(1);
  await handIn(2);
  await evict(session);
  await handIn(1, true);
  const stream = await session.listen();
  for (const n of [1, 2]) expect(await stream.message()).toMatchObject({ params: { n } });
  await stream.silence();
  await stream.cancel();
});

describe("the Worker that watches loses its client's stream while the object sleeps:", () => {
  test("the object watches, as the client is likely to be back", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    const stream = await session.listen();
    const { id } = (await stream.next()) ?? {};
    await opens(upstream, 2);
    await isClosed(upstream, 0);
    await evict(session);
    await stream.cancel();
    await opens(upstream, 3);
    await upstream.send(NOTE);
    const again = await session.listen(id);
    expect(await again.message()).toMatchObject(NOTE);
    await again.cancel();
  });

  test("the object watches for the client's other stream", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    const [first, second] = [await session.listen(), await session.listen()];
    await opens(upstream, 2);
    await isClosed(upstream, 0);
    await evict(session);
    await second.cancel();
    await opens(upstream, 3);
    await upstream.send(NOTE);
    expect(await first.message()).toMatchObject(NOTE);
    await first.cancel();
  });
});
