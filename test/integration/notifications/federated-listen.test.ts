/** `subscriptions/listen` where several servers meet: one stream of what changes at any of them. */

import { beforeAll, describe, test } from "vitest";

import type { Json, Reaction, Script } from "../../support/scripted-upstream-script.ts";
import { modern } from "../client.ts";
import { EventReader } from "../event-reader.ts";
import { wanted, wantedAfterAll } from "../news.ts";
import { setLimits } from "../own-limits.ts";
import { takeSeveral } from "../several-servers.ts";
import { jsonOf, type Upstream } from "../upstream.ts";

const ACK = "notifications/subscriptions/acknowledged";
const MAX_URIS = 5;

const always = (result: Json): readonly Reaction[] => [{ ...jsonOf({ result }), isLasting: true }];
const refusing: Reaction = {
  ...jsonOf({ error: { code: -32601, message: "No." } }, 404),
  isLasting: true,
};
const changed = (kind: string): Json => ({ method: `notifications/${kind}/list_changed` });
const updated = (uri: string): Json => ({
  method: "notifications/resources/updated",
  params: { uri },
});

/** A server with some resources, and a template. */
function script(name: string, listen: readonly Reaction[] = []): Script {
  const uris = ["1", "2", "3"].map((n) => ({ uri: `file:///${name}/${n}`, name: n }));
  return {
    server: "modern",
    tools: [{ name: "work", inputSchema: { type: "object" } }],
    reactions: {
      "resources/list": always({ resources: uris }),
      "resources/templates/list": always({
        resourceTemplates: [{ uriTemplate: `${name}://{id}`, name }],
      }),
      "prompts/list": always({ prompts: [] }),
      "subscriptions/listen": listen,
    },
  };
}

let first: Upstream;
let second: Upstream;
let deaf: Upstream;

beforeAll(async () => {
  setLimits({ subscribedUrisPerClient: MAX_URIS });
  const denied = { resources: { deny: ["file:///second/3"] } };
  const taken = await takeSeveral([
    { script: script("first") },
    { script: script("second"), entry: denied },
    { script: script("deaf", [refusing]) },
  ]);
  [first, second, deaf] = taken as [Upstream, Upstream, Upstream];
});

async function listen(notifications: Json, id: unknown = 1): Promise<EventReader> {
  const params = { notifications };
  return new EventReader(await modern({ mcp: "/mcp" }, "subscriptions/listen", params, { id }));
}

async function promised(stream: EventReader): Promise<unknown> {
  const { method, params } = await stream.message();
  if (method !== ACK) throw new Error(`The first message is ${method}`);
  return params?.["notifications"];
}

describe("a listener", () => {
  test("is notified of the lists of every server", async ({ expect }) => {
    const filter = { toolsListChanged: true, promptsListChanged: true };
    const stream = await listen(filter);
    expect(await promised(stream)).toEqual(filter);
    for (const upstream of [first, second]) {
      await upstream.send(changed("resources"));
      await upstream.send(changed("prompts"));
      expect(await stream.message()).toMatchObject(changed("prompts"));
      await upstream.send(changed("tools"));
      expect(await stream.message()).toMatchObject(changed("tools"));
    }
    await stream.cancel();
  });

  test("is notified of a resource by the server that has it", async ({ expect }) => {
    const uris = ["file:///first/1", "second://x", "file:///second/2"];
    const stream = await listen({ resourceSubscriptions: uris });
    expect(await promised(stream)).toEqual({ resourceSubscriptions: uris });
    // Who says so must be whose it is.
    await first.send(updated("second://x"));
    await first.send(updated("file:///first/2"));
    await second.send(updated("second://x"));
    expect(await stream.message()).toMatchObject(updated("second://x"));
    await first.send(updated("file:///first/1"));
    expect(await stream.message()).toMatchObject(updated("file:///first/1"));
    await stream.cancel();
  });

  test.for<{ name: string; uris: readonly string[]; left: readonly string[] }>([
    { name: "nobody has", uris: ["file:///first/1", "x:/1"], left: ["file:///first/1"] },
    { name: "it may not see", uris: ["file:///second/3", "second://1"], left: ["second://1"] },
    { name: "nobody will tell of", uris: ["deaf://1", "first://1"], left: ["first://1"] },
    {
      name: "are too many",
      uris: Array.from({ length: MAX_URIS + 3 }, (_, n) => `first://${n}`),
      left: Array.from({ length: MAX_URIS }, (_, n) => `first://${n}`),
    },
    { name: "it asks for twice", uris: ["first://1", "first://1"], left: ["first://1"] },
  ])("is promised no resources that $name", async ({ uris, left }, { expect }) => {
    const stream = await listen({ resourceSubscriptions: uris });
    expect(await promised(stream)).toEqual({ resourceSubscriptions: left });
    await stream.cancel();
  });

  test("may ask for nothing that there is", async ({ expect }) => {
    const stream = await listen({ resourceSubscriptions: ["x:/1"], others: ["t"] });
    expect(await promised(stream)).toEqual({});
    await stream.silence();
    await stream.cancel();
  });

  test("that hangs up is forgotten", async ({ expect }) => {
    for (const upstream of [first, second, deaf]) await wantedAfterAll(upstream, 0);
    const filter = { toolsListChanged: true, resourceSubscriptions: ["first://1"] };
    const streams = await Promise.all([listen(filter, 1), listen(filter, 2)]);
    for (const stream of streams) expect(await promised(stream)).toEqual(filter);
    await wanted(first, 2);
    await wanted(second, 1);
    await streams[0].cancel();
    await first.send(updated("first://1"));
    expect(await streams[1].message()).toMatchObject(updated("first://1"));
    await streams[1].cancel();
    for (const upstream of [first, second, deaf]) await wantedAfterAll(upstream, 0);
  });
});

test("a server has one watch, however many listen at whichever endpoint", async ({ expect }) => {
  const at = ["/mcp", first.mcp, "/mcp", first.mcp];
  const streams = await Promise.all(
    at.map(async (mcp, id) => {
      const params = { notifications: { toolsListChanged: true } };
      return new EventReader(await modern({ mcp }, "subscriptions/listen", params, { id }));
    }),
  );
  for (const stream of streams) expect(await promised(stream)).toEqual({ toolsListChanged: true });
  await first.send(changed("tools"));
  for (const stream of streams) expect(await stream.message()).toMatchObject(changed("tools"));
  const open = (await first.sent("subscriptions/listen")).filter(({ isCutOff }) => !isCutOff);
  expect(open).toHaveLength(1);
  await Promise.all(streams.map((stream) => stream.cancel()));
});
