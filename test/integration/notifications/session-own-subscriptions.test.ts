/**
 * A client that has called a tool is subscribed in its own session with the server as well: what
 * changes while it is away comes from the feed all the same, and nothing that it did not subscribe to.
 */

import { beforeAll, describe, test } from "vitest";

import { writeClaims } from "../../../src/sessions/session-id.ts";
import type { Json, Script } from "../../support/scripted-upstream-script.ts";
import { modern, Session } from "../client.ts";
import { EventReader, responseIn } from "../event-reader.ts";
import { changed, clientsOwn, MERGED, resourceful, subscribe, updated } from "../merged-session.ts";
import { claimsOf, evict, objectOf } from "../session-object.ts";
import { takeSeveral } from "../several-servers.ts";
import { ANSWER, event, MODERN_ANSWER, streamOf, type Upstream } from "../upstream.ts";

const SECRET = "file:///chatty/2";

let first: Upstream;
let chatty: Upstream;
let modernOne: Upstream;

beforeAll(async () => {
  const entry = { resources: { deny: [SECRET] } };
  const saying = (answer: Json): NonNullable<Script["reactions"]> => ({
    "tools/call": [
      {
        ...streamOf(event(updated(SECRET)), event(changed("tools")), event(answer)),
        isLasting: true,
      },
    ],
  });
  [first, chatty, modernOne] = (await takeSeveral([
    {
      script: resourceful("first", { capabilities: { tools: {}, resources: { subscribe: true } } }),
    },
    { script: resourceful("chatty", { reactions: saying(ANSWER) }), entry },
    {
      script: {
        server: "modern",
        tools: [{ name: "work", inputSchema: { type: "object" } }],
        reactions: saying(MODERN_ANSWER),
      },
      entry,
    },
  ])) as [Upstream, Upstream, Upstream];
});

describe.each([["once"], ["and the session's holder died"]])("a tool was called %s", (how) => {
  test("what the feed receives while the client is away is announced when it is back", async ({
    expect,
  }) => {
    const session = await Session.open(MERGED.mcp);
    const uri = "file:///first/1";
    await subscribe(session, uri);
    expect(await responseIn(await session.callTool(`${first.slug}__work`))).toHaveProperty(
      "result",
    );
    const own = (await clientsOwn(first)).filter(
      ({ body }) => body?.method === "resources/subscribe",
    );
    expect(own.length).toBeGreaterThan(0);
    if (how !== "once") await evict(session);
    // No stream of the client's is open: it is the feed that hears of it.
    const object = await objectOf(session);
    const news = { slug: first.slug, seq: 1e9, topics: [`uri:${uri}` as const] };
    expect(await object.deliver(news)).toBe("taken");
    const stream = await session.listen();
    expect(await stream.message()).toMatchObject(updated(uri));
    // The same change, as the session at the server tells it.
    const message = { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } };
    const parsed = { kind: "notification", message: { ...message, jsonrpc: "2.0" } } as const;
    const watched = { slug: first.slug, parsed, lastEventId: "1" };
    if (how === "once") {
      const claims = writeClaims(await claimsOf(session.id));
      await object.receiveWatched(claims, JSON.stringify(watched));
      await stream.silence();
    }
    await stream.cancel();
    await (await session.delete()).text();
  });
});

test("a legacy server announces nothing that was not subscribed to", async ({ expect }) => {
  const session = await Session.open(MERGED.mcp);
  const events = await new EventReader(await session.callTool(`${chatty.slug}__work`)).rest();
  expect(events.map(({ data }) => data).join("\n")).toContain('"result"');
  expect(events.map(({ data }) => data).join("\n")).not.toContain(SECRET);
});

test("a modern server announces changes on listen streams only", async ({ expect }) => {
  const call = { name: `${modernOne.slug}__work`, arguments: {} };
  const said = await (await modern(MERGED, "tools/call", call)).text();
  expect(said).toContain('"result"');
  expect(said).not.toContain(SECRET);
  expect(said).not.toContain("list_changed");
});
