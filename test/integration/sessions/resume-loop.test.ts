/** A client that opens streams in a loop is refused after a while, and loses nothing by it. */

import { beforeAll, test } from "vitest";

import { Session } from "../client.ts";
import { EventReader, messagesOf, responseIn } from "../event-reader.ts";
import { setLimits } from "../own-limits.ts";
import { loggedIn } from "../session-object.ts";
import { STREAMED, Upstream } from "../upstream.ts";

const PER_MINUTE = 10;

beforeAll(() => {
  setLimits({ streamOpensPerMinute: PER_MINUTE });
});

test("resumes in a loop get 429 in the end, and leave the log unchanged", async ({ expect }) => {
  const upstream = await Upstream.take({
    server: "legacy",
    reactions: { "tools/call": [STREAMED] },
  });
  const session = await Session.open(upstream.mcp);
  const seen = await new EventReader(await session.callTool("work", {}, "mine")).rest();
  const rows = await loggedIn(session);
  const headers = { "Last-Event-ID": seen[0]?.id ?? "" };
  const statuses: number[] = [];
  for (let n = 0; n < PER_MINUTE + 5; n++) {
    const response = await session.get(headers);
    statuses.push(response.status);
    if (response.status === 200) expect(await messagesOf(response)).toHaveLength(2);
    else expect((await responseIn(response)).error).toMatchObject({ code: -32000 });
  }
  expect(statuses).toEqual([...Array<number>(PER_MINUTE).fill(200), ...Array<number>(5).fill(429)]);
  expect(await loggedIn(session)).toBe(rows);
  // It is the opening of streams that is refused, and that of this session alone.
  expect(await responseIn(await session.callTool("next"))).toHaveProperty("result");
  const other = await Session.open(upstream.mcp);
  await (await other.listen()).cancel();
});

test("a loop of new streams gets 429 too", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "legacy" });
  const session = await Session.open(upstream.mcp);
  const statuses = new Set<number>();
  for (let n = 0; n < PER_MINUTE + 1; n++) {
    const response = await session.get();
    statuses.add(response.status);
    await response.body?.cancel();
  }
  expect([...statuses]).toEqual([200, 429]);
});
