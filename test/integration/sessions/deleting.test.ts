/** DELETE while the client listens: the end is the end, for the upstream and for the object. */

import { beforeAll, describe, test } from "vitest";

import { Session } from "../client.ts";
import { setLimits } from "../own-limits.ts";
import { claimsOf, evict, storedIn } from "../session-object.ts";
import { methodOf, Upstream } from "../upstream.ts";
import { within } from "../bounded.ts";

const QUIET_SECONDS = 4;
/** Sooner than a timer that was left behind. */
const AT_ONCE_MS = 3000;

beforeAll(() => setLimits({ quietSeconds: QUIET_SECONDS, lingerSeconds: 60 }));

describe("DELETE while the client listens", () => {
  test.for([
    { name: "on one stream", streams: 1, isHandedOver: false },
    { name: "on several", streams: 3, isHandedOver: false },
    { name: "on one that watches the upstream", streams: 1, isHandedOver: true },
  ])("asks nothing more, and leaves nothing running: $name", async (given, { expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    const streams = [];
    for (let n = 0; n < given.streams; n++) streams.push(await session.listen());
    await upstream.receives("GET", given.isHandedOver ? 2 : 1);
    await (await session.delete()).text();
    await within(evict(session), "an object that is over to be let go", AT_ONCE_MS);
    for (const stream of streams) {
      expect((await stream.rest()).filter(({ data }) => data !== "")).toEqual([]);
    }
    await expect.poll(async () => (await upstream.used()).map(methodOf)).toContain("DELETE");
    expect((await upstream.used()).map(methodOf).at(-1)).toBe("DELETE");
    expect((await upstream.used()).filter(({ method }) => method === "GET")).toSatisfy(
      (gets: readonly { readonly isCutOff: boolean }[]) => gets.every(({ isCutOff }) => isCutOff),
    );
    const { expiresAt } = await claimsOf(session.id);
    expect(await storedIn(session)).toEqual({
      keys: ["deleted"],
      tables: [],
      alarm: expiresAt * 1000,
    });
  });
});
