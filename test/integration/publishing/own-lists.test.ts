/**
 * The one server of the operator's, before its client's person publishes anything: the client reads its lists in a
 * session of its own there, and is told of the changes that are reported in that session alone.
 */

// Has an isolate of its own: it configures the gateway anew.
import { beforeAll, test } from "vitest";

import { Session } from "../client.ts";
import { beginWith } from "../configuration.ts";
import { messagesOf } from "../event-reader.ts";
import { changed, MERGED, promised, resourceful } from "../merged-session.ts";
import { takeOnly } from "../only-server.ts";
import { ANSWER, event, streamOf, type Upstream } from "../upstream.ts";

const CHANGES = { listChanged: true };
let upstream: Upstream;

beforeAll(async () => {
  const script = resourceful("only", {
    capabilities: { tools: CHANGES, prompts: CHANGES, resources: CHANGES },
    reactions: { "tools/call": [streamOf(event(changed("tools")), event(ANSWER))] },
  });
  upstream = await takeOnly(script);
  await beginWith({ PUBLISHING: "on" });
});

test("a change that comes on the stream of a call reaches the client, also where the feed promises the list", async ({
  expect,
}) => {
  const session = await Session.open(MERGED.mcp);
  const stream = await session.listen();
  await promised(session, upstream);
  const call = await messagesOf(await session.callTool("work"));
  expect(call.slice(0, -1)).toMatchObject([changed("tools")]);
  expect(call.at(-1)).toHaveProperty("result");
  await stream.cancel();
  await (await session.delete()).text();
});
