// Has an isolate of its own: its limits are those of this file.
/** A client of 2026-07-28 that stays connected and reads nothing holds its call only for a while. */

import { beforeAll, test } from "vitest";

import { modernCall } from "../client.ts";
import { setLimits } from "../own-limits.ts";
import { event, streamOf, Upstream } from "../upstream.ts";

beforeAll(() => {
  setLimits({ stallSeconds: 1 });
});

test.for(["legacy", "modern"] as const)(
  "a client that reads nothing counts as gone: its call is cancelled at a %s upstream",
  async (server, { expect }) => {
    const long = {
      method: "notifications/progress",
      params: { progressToken: "{{token}}", progress: 1, message: "x".repeat(40_000) },
    };
    const notices = Array.from({ length: 40 }, () => event(long));
    const upstream = await Upstream.take({
      server,
      reactions: { "tools/call": [{ ...streamOf(...notices), end: "never" }] },
    });
    const response = await modernCall(upstream, { meta: { progressToken: 1 } });
    expect(response.status).toBe(200);
    if (server === "legacy") await upstream.receives("notifications/cancelled");
    else {
      await expect
        .poll(async () => (await upstream.sent("tools/call")).map(({ isCutOff }) => isCutOff))
        .toEqual([true]);
    }
    await response.body?.cancel();
  },
);
