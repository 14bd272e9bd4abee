/**
 * A server that reports a change of a list on the stream of a call alone. The list that the client reads after the call
 * is that of after the change, and whoever listens is told when it has been read. Of a list that its server has not
 * promised to announce, the client that made the call is told on its stream.
 */

import { beforeAll, test } from "vitest";

import type { Json, Script } from "../../support/scripted-upstream-script.ts";
import { Session } from "../client.ts";
import { messagesOf, responseIn } from "../event-reader.ts";
import { changed, MERGED, promised, resourceful } from "../merged-session.ts";
import { takeSeveral } from "../several-servers.ts";
import { ANSWER, event, streamOf, type Upstream } from "../upstream.ts";

let other: Upstream;
let changing: Upstream;
let promising: Upstream;

/** It announces nothing in the session of the feed, whatever it promises. */
function offering(names: readonly string[], listChanged: boolean): Script {
  return resourceful("changing", {
    capabilities: { tools: { listChanged }, prompts: { listChanged }, resources: { listChanged } },
    tools: names.map((name) => ({ name, inputSchema: { type: "object" } })),
    reactions: { "tools/call": [streamOf(event(changed("tools")), event(ANSWER))] },
  });
}

beforeAll(async () => {
  [other, changing, promising] = (await takeSeveral([
    { script: resourceful("other") },
    { script: offering(["work"], false) },
    { script: offering(["work"], true) },
  ])) as [Upstream, Upstream, Upstream];
});

async function toolsOf(session: Session): Promise<readonly unknown[]> {
  const { result } = await responseIn(await session.request("tools/list"));
  const tools = (result?.["tools"] ?? []) as readonly Json[];
  return tools.map(({ name }) => name);
}

test.for([
  { name: "that promises nothing", server: () => changing, isPromised: false },
  { name: "that promises to announce it", server: () => promising, isPromised: true },
])(
  "a list of a server $name is read anew after its change was reported on the stream of a call",
  async ({ server, isPromised }, { expect }) => {
    const session = await Session.open(MERGED.mcp);
    const watching = await Session.open(MERGED.mcp);
    const streams = [await session.listen(), await watching.listen()];
    const before = [other, changing, promising].map(({ slug }) => `${slug}__work`);
    await promised(session, promising);
    await promised(watching, promising);
    expect(await toolsOf(session)).toEqual(expect.arrayContaining(before));
    const { slug } = server();
    await server().script(offering(["work", "more"], isPromised));
    const call = await messagesOf(await session.callTool(`${slug}__work`));
    expect(call.slice(0, -1)).toMatchObject(isPromised ? [] : [changed("tools")]);
    expect(call.at(-1)).toHaveProperty("result");
    expect(await toolsOf(session)).toContain(`${slug}__more`);
    expect(await streams[1]?.message()).toMatchObject(changed("tools"));
    if (isPromised) expect(await streams[0]?.message()).toMatchObject(changed("tools"));
    for (const stream of streams) await stream.cancel();
    for (const each of [session, watching]) await (await each.delete()).text();
  },
);
