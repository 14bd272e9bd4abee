/** Who of the clients that listen at a bridge receives updates of which resource, and what any of them wants. */

import { describe, test } from "vitest";

import { ResourceListeners } from "../../../../src/relay/modern-to-legacy/resource-listeners.ts";

function both(): ResourceListeners<string> {
  const listeners = new ResourceListeners<string>();
  listeners.add("first", ["x:/1", "x:/2"]);
  listeners.add("second", ["x:/2", "x:/3"]);
  return listeners;
}

describe("clients that listen", () => {
  test("are notified of what they listen for", ({ expect }) => {
    const listeners = both();
    const notified = ["x:/1", "x:/2", "x:/3", "x:/4"].map((uri) => [
      ...listeners.listeningFor(uri),
    ]);
    expect(notified).toEqual([["first"], ["first", "second"], ["second"], []]);
  });

  test("together want what any of them does", ({ expect }) => {
    expect([...both().uris].toSorted()).toEqual(["x:/1", "x:/2", "x:/3"]);
    expect(new ResourceListeners().uris.size).toBe(0);
  });

  test("who leave do not take with them what another wants", ({ expect }) => {
    const listeners = both();
    expect(listeners.remove("first")).toBe(true);
    expect([...listeners.uris]).toEqual(["x:/2", "x:/3"]);
    expect([...listeners.listeningFor("x:/2")]).toEqual(["second"]);
    expect(listeners.remove("first")).toBe(false);
    listeners.remove("second");
    expect(listeners.uris.size).toBe(0);
  });

  test("may leave while they are notified", ({ expect }) => {
    const listeners = both();
    const notified = [];
    for (const listener of listeners.listeningFor("x:/2")) {
      notified.push(listener);
      listeners.remove(listener);
    }
    expect(notified).toEqual(["first", "second"]);
  });
});
