/** What a session with several servers costs: no more than one with one. */

// Has an isolate of its own: it counts the costs of everything.
import { beforeAll, describe, test } from "vitest";

import { NO_COSTS } from "../../../src/observability/costs.ts";
import { Session } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { atRest } from "../feed-object.ts";
import { costsOf } from "../costs-of.ts";
import { clientsOwn, MERGED, promised, takeTwo } from "../merged-session.ts";
import type { Upstream } from "../upstream.ts";

let first: Upstream;
let second: Upstream;

beforeAll(async () => {
  [first, second] = await takeTwo();
});

describe("a session with several servers", () => {
  test("asks one object and one server for each call, and writes nothing", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    const call = async (): Promise<void> => {
      for (const { slug } of [first, second]) {
        expect(await responseIn(await session.callTool(`${slug}__work`))).toHaveProperty("result");
      }
    };
    await call();
    const costs = await costsOf(async () => {
      for (let n = 0; n < 5; n++) await call();
    });
    expect(costs).toEqual({ ...NO_COSTS, objectRequests: 10, outgoingRequests: 10 });
  });

  test("costs nothing while its client only listens", async ({ expect }) => {
    const session = await Session.open(MERGED.mcp);
    await responseIn(await session.callTool(`${first.slug}__work`));
    const { length: before } = await clientsOwn(first);
    const stream = await session.listen();
    await promised(session, first, second);
    // The session's own watch, and then that of whoever holds the client's stream.
    const handed = async (): Promise<number> => (await clientsOwn(first)).length - before;
    await expect.poll(handed, { timeout: 20_000 }).toBe(2);
    await atRest(first, second);
    await stream.silence(); // whatever led to this is over
    const idle = async (): Promise<void> => {
      for (let n = 0; n < 3; n++) await stream.silence();
    };
    expect(await costsOf(idle)).toEqual(NO_COSTS);
    await stream.cancel();
  });
});
