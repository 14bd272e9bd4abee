/** Those who look on: eight of them, two of one person, and each sees what is theirs to see. */

import { describe, test } from "vitest";

import type { ListedCall } from "../../../src/activity/call.ts";
import {
  MAX_WATCHERS,
  type Watcher,
  watchRequest,
  Watchers,
  type WatcherSocket,
} from "../../../src/activity/watchers.ts";

interface FakeSocket extends WatcherSocket {
  readonly watcher: Watcher;
  readonly sent: string[];
  readonly closed: number[];
}

function field() {
  let open: FakeSocket[] = [];
  let now = 0;
  const watchers = new Watchers<FakeSocket>({
    // The platform names them in no order.
    open: () => open.toReversed(),
    onSent: () => undefined,
    now: () => (now += 1),
  });
  const enter = (watcher: Watcher): FakeSocket | undefined => {
    const admitted = watchers.admit(watchRequest(watcher));
    if (admitted === undefined) return undefined;
    const socket: FakeSocket = {
      ...{ watcher: admitted, sent: [], closed: [] },
      deserializeAttachment: () => admitted,
      send: (text) => socket.sent.push(text),
      close(code) {
        socket.closed.push(code);
        open = open.filter((each) => each !== socket);
      },
    };
    open.push(socket);
    return socket;
  };
  return { watchers, enter };
}

const call = (person: string) => ({ person, outcome: "ok" }) as ListedCall;

describe("those who look on", () => {
  test("are eight at most", ({ expect }) => {
    const { enter } = field();
    const all = Array.from({ length: MAX_WATCHERS + 2 }, (_, n) =>
      enter({ viewer: `u${n}`, filter: {} }),
    );
    expect(all.filter((socket) => socket !== undefined)).toHaveLength(MAX_WATCHERS);
  });

  test("have two tabs each: the third takes the place of the first, also when all are taken", ({
    expect,
  }) => {
    const { enter } = field();
    for (let n = 2; n < MAX_WATCHERS; n++) enter({ viewer: `u${n}`, filter: {} });
    const [first, second, third] = [1, 2, 3].map(() => enter({ viewer: "ann", filter: {} }));
    expect(first?.closed).toHaveLength(1);
    expect(second?.closed).toEqual([]);
    expect(third).toBeDefined();
  });

  test("see what their filter lets through, and nothing is made for nobody", ({ expect }) => {
    const { watchers, enter } = field();
    let made = 0;
    const calls = () => {
      made += 1;
      return [call("ann"), call("bob")];
    };
    watchers.show(calls);
    expect(made).toBe(0);
    const own = enter({ viewer: "ann", filter: { person: "ann" } });
    const all = enter({ viewer: "root", filter: {} });
    const none = enter({ viewer: "eve", filter: { person: "eve" } });
    watchers.show(calls);
    expect(own?.sent.map((text) => JSON.parse(text) as unknown)).toEqual([[call("ann")]]);
    expect(all?.sent.map((text) => (JSON.parse(text) as unknown[]).length)).toEqual([2]);
    expect(none?.sent).toEqual([]);
  });
});
