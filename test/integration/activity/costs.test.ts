/** What recording costs: nothing before an answer, and little beside it. */

// Has an isolate of its own: it counts the costs of everything.
import { beforeAll, describe, type ExpectStatic, test } from "vitest";

import { NO_COSTS, readCosts } from "../../../src/observability/costs.ts";
import { modernCall, Session } from "../client.ts";
import { changeConfiguration } from "../configuration.ts";
import { costsOf } from "../costs-of.ts";
import { responseIn } from "../event-reader.ts";
import { Upstream } from "../upstream.ts";
import { localCalls } from "./recorded.ts";

beforeAll(() => {
  changeConfiguration({ ACTIVITY: "all" });
});

/** Everything that was sent so far is written down, and nothing is on its way. */
async function settled(expect: ExpectStatic, calls: number): Promise<void> {
  await expect.poll(async () => (await localCalls()).length).toBe(calls);
}

describe("recording", () => {
  test("P13, T15: costs calls of modern clients nothing, and one row for all of a second", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "modern" });
    await responseIn(await modernCall(upstream));
    await settled(expect, 1);
    const before = readCosts();
    const calls = async (): Promise<void> => {
      for (let n = 0; n < 5; n++) await responseIn(await modernCall(upstream));
    };
    expect(await costsOf(calls)).toEqual({ ...NO_COSTS, outgoingRequests: 5 });
    await settled(expect, 6);
    const { rowsWritten } = readCosts();
    expect(rowsWritten - before.rowsWritten).toBe(1);
  });

  test("costs calls in sessions nothing, and one row for all of a second", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const sessions = [await Session.inUse(upstream.mcp), await Session.inUse(upstream.mcp)];
    await settled(expect, 8); // and the lists
    const before = readCosts();
    const calls = async (): Promise<void> => {
      for (const session of sessions) await responseIn(await session.callTool());
    };
    expect(await costsOf(calls)).toEqual({
      ...NO_COSTS,
      ...{ outgoingRequests: 2, objectRequests: 2 },
    });
    await settled(expect, 10);
    const after = readCosts();
    expect(after.rowsWritten - before.rowsWritten).toBe(1);
    expect(after.alarmsSet - before.alarmsSet).toBe(0);
  });
});
