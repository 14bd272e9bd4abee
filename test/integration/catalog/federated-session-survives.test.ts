/**
 * The platform takes the memory of a session's object away while it is in use with several servers:
 * each call is resumed at its own server, and each server's stream from its last event.
 */

import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, test } from "vitest";

import type { Json, Recorded, Script } from "../../support/scripted-upstream-script.ts";
import { until } from "../bounded.ts";
import { Session } from "../client.ts";
import { EventReader, responseIn } from "../event-reader.ts";
import { clientsOwn, MERGED, resourceful } from "../merged-session.ts";
import { evict, objectOf } from "../session-object.ts";
import { takeSeveral } from "../several-servers.ts";
import { ANSWER, event, LOG, RESULT, streamOf, type Upstream } from "../upstream.ts";

/** Whatever changes there is not told, so the gateway has no watch of its own. */
const QUIET = { capabilities: { tools: {}, logging: {} } };

let both: readonly [Upstream, Upstream];
let unused: Upstream;

beforeAll(async () => {
  const script = resourceful("any", QUIET);
  const taken = await takeSeveral([{ script }, { script }, { script }]);
  for (const upstream of taken) await react(upstream, {});
  both = taken.slice(0, 2) as [Upstream, Upstream];
  [unused] = taken.slice(2) as [Upstream];
});

/** From now on; its lists stay, since the gateway would announce that it has found a change of them. */
function react(upstream: Upstream, reactions: NonNullable<Script["reactions"]>): Promise<void> {
  return upstream.script(resourceful(upstream.slug, { ...QUIET, reactions }));
}

function said(by: Upstream, n: number): Json {
  return { method: "notifications/message", params: { level: "info", data: `${by.slug} ${n}` } };
}

function call(session: Session, { slug }: Upstream): Promise<Response> {
  return session.callTool(`${slug}__work`);
}

async function gets(upstream: Upstream): Promise<readonly Recorded[]> {
  return (await clientsOwn(upstream)).filter(({ method }) => method === "GET");
}

/** Waits until a server has had so many GET streams of clients, and the last of them stands. */
function listenedTo(upstream: Upstream, count: number): Promise<readonly Recorded[]> {
  return until(async () => {
    const found = await gets(upstream);
    return found.length >= count ? found : undefined;
  }, `${count} GET streams at ${upstream.slug}`);
}

/** What the log of a session keeps to take its servers up again. */
async function originsIn(session: Session): Promise<readonly string[]> {
  return runInDurableObject(await objectOf(session), (_instance, { storage }) => {
    if ([...storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'events_1'")].length === 0) {
      return [];
    }
    const rows = storage.sql.exec<{ origin: string | null }>("SELECT origin FROM events_1");
    return [...rows].map(({ origin }) => origin ?? "");
  });
}

describe("calls of several servers at once, whose session's object is lost,", () => {
  test("are each taken up at their own", async ({ expect }) => {
    for (const upstream of both) {
      const reply = { id: "{{id}}", result: { content: [{ type: "text", text: upstream.slug }] } };
      const first = event(said(upstream, 1), { id: `at ${upstream.slug}` });
      await react(upstream, {
        "tools/call": [streamOf(first, { gate: "never" }, event(reply))],
      });
    }
    const session = await Session.open(MERGED.mcp);
    const calls = await Promise.all(
      both.map(async (upstream) => {
        const stream = new EventReader(await call(session, upstream));
        return { upstream, stream, begun: await stream.message() };
      }),
    );
    for (const { upstream } of calls) {
      const id = (await upstream.sent("tools/call")).at(-1)?.body?.id;
      const result = { content: [{ type: "text", text: upstream.slug }] };
      const rest = streamOf(event({ id, result }));
      await react(upstream, { GET: [rest] });
    }
    await abortAllDurableObjects();
    for (const { upstream, stream, begun } of calls) {
      expect(begun).toMatchObject(said(upstream, 1));
      expect(await stream.message()).toMatchObject({
        result: { content: [{ text: upstream.slug }] },
      });
      const [resumed] = await gets(upstream);
      expect(resumed?.headers["last-event-id"]).toBe(`at ${upstream.slug}`);
      expect(await upstream.sent("tools/call")).toHaveLength(1);
    }
  });

  test("are taken up where the server offered it, though it was late", async ({ expect }) => {
    const [upstream] = both;
    const pieces = [{ gate: "offer" }, "id: offered\ndata:\n\n", { gate: "never" }];
    await react(upstream, { "tools/call": [streamOf(...pieces)] });
    const session = await Session.open(MERGED.mcp);
    const stream = new EventReader(await call(session, upstream));
    await stream.next(); // it takes so long that it is a stream
    const before = await gets(upstream);
    const id = (await upstream.sent("tools/call")).at(-1)?.body?.id;
    await upstream.open("offer");
    const isKept = async (): Promise<true | undefined> =>
      (await originsIn(session)).join().includes("offered") ? true : undefined;
    await until(isKept, "the offer to be kept");
    const rest = streamOf(event({ id, result: RESULT }));
    await react(upstream, { GET: [rest] });
    await abortAllDurableObjects();
    expect(await stream.message()).toMatchObject({ result: RESULT });
    const resumed = (await gets(upstream))[before.length];
    expect(resumed?.headers["last-event-id"]).toBe("offered");
  });

  test.for([
    { name: "that said something", pieces: [event(LOG)] },
    { name: "that said nothing yet", pieces: [] },
  ])("end in an error that names the server, if it $name", async ({ pieces }, { expect }) => {
    const [, upstream] = both;
    await react(upstream, {
      "tools/call": [streamOf(...pieces, { gate: "never" }, event(ANSWER))],
    });
    const session = await Session.open(MERGED.mcp);
    const stream = new EventReader(await call(session, upstream));
    if (pieces.length > 0) await stream.message();
    else await stream.next();
    const before = (await upstream.sent("tools/call")).length;
    await abortAllDurableObjects();
    const { error } = await stream.message();
    expect(error?.message).toContain(`"${upstream.slug}"`);
    expect(error?.message).toContain("unknown");
    expect(await upstream.sent("tools/call")).toHaveLength(before);
  });
});

describe("a client that listens", () => {
  test("hears the servers that it has called, and wakes no others", async ({ expect }) => {
    for (const upstream of both) await react(upstream, {});
    const session = await Session.open(MERGED.mcp);
    const stream = await session.listen();
    for (const upstream of both) {
      const before = (await gets(upstream)).length;
      await responseIn(await call(session, upstream));
      await listenedTo(upstream, before + 1);
      await upstream.send(said(upstream, 1));
      expect(await stream.message()).toMatchObject(said(upstream, 1));
    }
    expect(await clientsOwn(unused)).toEqual([]);
    await stream.cancel();
  });

  test("hears all of them from where they were, when the object is lost", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    const stream = await session.listen();
    for (const upstream of both) {
      const before = (await gets(upstream)).length;
      await responseIn(await call(session, upstream));
      await listenedTo(upstream, before + 1);
    }
    for (const [n, upstream] of [...both, ...both].entries()) {
      await upstream.send(said(upstream, n), `${upstream.slug} ${n}`);
      expect(await stream.message()).toMatchObject(said(upstream, n));
    }
    const before = await Promise.all(both.map(gets));
    await abortAllDurableObjects();
    for (const [place, upstream] of both.entries()) {
      const known = before[place]?.length ?? 0;
      const after = await listenedTo(upstream, known + 1);
      expect(after[known]?.headers["last-event-id"]).toBe(`${upstream.slug} ${place + 2}`);
      await upstream.send(said(upstream, 9), `${upstream.slug} 9`);
      expect(await stream.message()).toMatchObject(said(upstream, 9));
    }
    await stream.cancel();
  });

  test("is heard on from where they offered it, though nothing was said", async ({ expect }) => {
    for (const upstream of both) {
      const offer = `id: offer of ${upstream.slug}\ndata:\n\n`;
      const GET = [{ ...streamOf(offer), end: "never" as const, isLasting: true as const }];
      await react(upstream, { GET });
    }
    const session = await Session.open(MERGED.mcp);
    const stream = await session.listen();
    for (const upstream of both) {
      const before = (await gets(upstream)).length;
      await responseIn(await call(session, upstream));
      await listenedTo(upstream, before + 1);
    }
    const areKept = async (): Promise<true | undefined> => {
      const kept = (await originsIn(session)).join();
      return both.every(({ slug }) => kept.includes(`offer of ${slug}`)) ? true : undefined;
    };
    await until(areKept, "the places of both to be kept");
    stream.collect(); // it is taken up again while somebody reads
    const before = await Promise.all(both.map(gets));
    await abortAllDurableObjects();
    for (const [place, upstream] of both.entries()) {
      const known = before[place]?.length ?? 0;
      const after = await listenedTo(upstream, known + 1);
      expect(after[known]?.headers["last-event-id"]).toBe(`offer of ${upstream.slug}`);
    }
    await stream.cancel();
    for (const upstream of both) await react(upstream, {});
  });

  test("is left by the object, and hears every server still", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    for (const upstream of both) await responseIn(await call(session, upstream));
    const before = await Promise.all(both.map(gets));
    const stream = await session.listen();
    // The session's own watch, and then that of whoever holds the client's stream.
    for (const [place, upstream] of both.entries()) {
      await listenedTo(upstream, (before[place]?.length ?? 0) + 2);
    }
    for (const upstream of [...both, ...both]) {
      await evict(session);
      await upstream.send(said(upstream, 1));
      expect(await stream.message()).toMatchObject(said(upstream, 1));
    }
    // And one that is called only now.
    await responseIn(await call(session, unused));
    await listenedTo(unused, 1);
    for (const upstream of [unused, ...both]) {
      await upstream.send(said(upstream, 2));
      expect(await stream.message()).toMatchObject(said(upstream, 2));
    }
    await stream.cancel();
  });
});
