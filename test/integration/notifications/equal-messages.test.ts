/** Two messages may be equal and yet be two: only an id of an event's own tells a repetition. */

import { describe, test } from "vitest";

import { Session } from "../client.ts";
import { LOG, Upstream } from "../upstream.ts";

describe("equal notifications without ids, after one with an id, all arrive", () => {
  test.for([
    { name: "while the session watches by itself", gets: 1, isSplit: false },
    { name: "when the watch was handed over", gets: 2, isSplit: false },
    { name: "though the watch is handed over after the id", gets: 1, isSplit: true },
  ])("$name", async ({ gets, isSplit }, { expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    const stream = await session.listen();
    await upstream.receives("GET", gets);
    await upstream.send(LOG, "e-1");
    expect(await stream.message()).toMatchObject(LOG);
    if (isSplit) await upstream.receives("GET", gets + 1);
    for (let n = 0; n < 3; n++) {
      await upstream.send(LOG);
      expect(await stream.message()).toMatchObject(LOG);
    }
    await stream.silence();
    await stream.cancel();
  });
});
