/**
 * A server that reports a change of a list on the stream of a call alone: the client that made the call is told, and
 * the list that it reads at once is that of after the change.
 */

import { beforeAll, test } from "vitest";

import type { Json, Script } from "../../support/scripted-upstream-script.ts";
import { Session } from "../client.ts";
import { EventReader, responseIn } from "../event-reader.ts";
import { changed, MERGED, resourceful } from "../merged-session.ts";
import { takeSeveral } from "../several-servers.ts";
import { ANSWER, event, streamOf, type Upstream } from "../upstream.ts";

let other: Upstream;
let changing: Upstream;

/** It announces nothing in the session of the feed. */
function offering(...names: readonly string[]): Script {
  return resourceful("changing", {
    capabilities: { tools: {} },
    tools: names.map((name) => ({ name, inputSchema: { type: "object" } })),
    reactions: { "tools/call": [streamOf(event(changed("tools")), event(ANSWER))] },
  });
}

beforeAll(async () => {
  [other, changing] = (await takeSeveral([
    { script: resourceful("other") },
    { script: offering("work") },
  ])) as [Upstream, Upstream];
});

async function toolsOf(session: Session): Promise<readonly unknown[]> {
  const { result } = await responseIn(await session.request("tools/list"));
  const tools = (result?.["tools"] ?? []) as readonly Json[];
  return tools.map(({ name }) => name);
}

test("a list is read anew after the server has reported its change on the stream of a call", async ({
  expect,
}) => {
  const session = await Session.open(MERGED.mcp);
  const before = [`${other.slug}__work`, `${changing.slug}__work`];
  expect(await toolsOf(session)).toEqual(before);
  await changing.script(offering("work", "more"));
  const events = new EventReader(await session.callTool(`${changing.slug}__work`));
  expect(await events.message()).toMatchObject(changed("tools"));
  expect(await toolsOf(session)).toEqual([...before, `${changing.slug}__more`]);
  expect((await events.rest()).at(-1)?.data).toContain('"result"');
});
