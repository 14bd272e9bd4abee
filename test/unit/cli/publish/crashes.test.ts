import { describe, test } from "vitest";

import { Activity } from "../../../../cli/publish/activity.ts";
import { Crashes } from "../../../../cli/publish/crashes.ts";
import { type Message, readMessage } from "../../../../cli/stdio/message.ts";

describe("a server that ends by itself", () => {
  test("is started after pauses that double", ({ expect }) => {
    const crashes = new Crashes();
    expect(crashes.pauseMs(0)).toBe(0);
    const pauses = [0, 1, 2, 3].map((each) => {
      expect(crashes.note(each * 1000)).toBeUndefined();
      return crashes.pauseMs(each * 1000);
    });
    expect(pauses).toEqual([500, 1000, 2000, 4000]);
    expect(crashes.pauseMs(6000)).toBe(1000);
    expect(crashes.pauseMs(100_000)).toBe(0);
  });

  test("five times in a minute is left alone, longer each time", ({ expect }) => {
    const crashes = new Crashes();
    const rounds = [0, 1, 2].map((round) =>
      [0, 1, 2, 3, 4].map((each) => crashes.note(round * 1_000_000 + each * 14_999)),
    );
    const none = [undefined, undefined, undefined, undefined];
    expect(rounds).toEqual([
      [...none, 60_000],
      [...none, 120_000],
      [...none, 240_000],
    ]);
  });

  test("four times in each minute is not", ({ expect }) => {
    const crashes = new Crashes();
    const all = Array.from({ length: 40 }, (_, each) => crashes.note(each * 15_000));
    expect(new Set(all)).toEqual(new Set([undefined]));
  });
});

function message(value: object): Message {
  const read = readMessage(JSON.stringify({ jsonrpc: "2.0", ...value }));
  if (read === undefined) throw new Error("no message");
  return read;
}

describe("a channel", () => {
  test("is idle when nothing runs either way, and nothing was said for as long", ({ expect }) => {
    const activity = new Activity(0);
    activity.note(">", message({ id: 1, method: "tools/call" }), 10);
    // The same id, of the server.
    activity.note("<", message({ id: 1, method: "elicitation/create" }), 20);
    expect([activity.isIdle(10_000, 100), activity.calls]).toEqual([false, 1]);
    activity.note(">", message({ id: 1, result: {} }), 30);
    expect([activity.isIdle(10_000, 100), activity.calls]).toEqual([false, 1]);
    activity.note("<", message({ id: 1, result: {} }), 40);
    expect(activity.calls).toBe(0);
    expect([activity.isIdle(139, 100), activity.isIdle(140, 100)]).toEqual([false, true]);
  });

  test("has a cancelled call no more, and a listen stream is no call", ({ expect }) => {
    const activity = new Activity(0);
    activity.note(">", message({ id: "a", method: "tools/call" }), 0);
    const params = { requestId: "a" };
    activity.note(">", message({ method: "notifications/cancelled", params }), 0);
    expect(activity.isIdle(1000, 100)).toBe(true);
    activity.note(">", message({ id: "b", method: "subscriptions/listen" }), 0);
    expect([activity.isIdle(1000, 100), activity.calls]).toEqual([false, 0]);
  });
});
