/** Who of the clients that listen at a bridge hears of which resource, and what any of them wants. */

import { describe, test } from "vitest";

import { Attendants } from "../../../../src/relay/modern-to-legacy/attendants.ts";

function both(): Attendants<string> {
  const attendants = new Attendants<string>();
  attendants.enter("first", ["x:/1", "x:/2"]);
  attendants.enter("second", ["x:/2", "x:/3"]);
  return attendants;
}

describe("clients that listen", () => {
  test("are told of what they listen for", ({ expect }) => {
    const attendants = both();
    const told = ["x:/1", "x:/2", "x:/3", "x:/4"].map((uri) => [...attendants.waysTo(uri)]);
    expect(told).toEqual([["first"], ["first", "second"], ["second"], []]);
  });

  test("together want what any of them does", ({ expect }) => {
    expect([...both().uris].toSorted()).toEqual(["x:/1", "x:/2", "x:/3"]);
    expect(new Attendants().uris.size).toBe(0);
  });

  test("who leave do not take with them what another wants", ({ expect }) => {
    const attendants = both();
    expect(attendants.leave("first")).toBe(true);
    expect([...attendants.uris]).toEqual(["x:/2", "x:/3"]);
    expect([...attendants.waysTo("x:/2")]).toEqual(["second"]);
    expect(attendants.leave("first")).toBe(false);
    attendants.leave("second");
    expect(attendants.uris.size).toBe(0);
  });

  test("may leave while they are told", ({ expect }) => {
    const attendants = both();
    const told = [];
    for (const way of attendants.waysTo("x:/2")) {
      told.push(way);
      attendants.leave(way);
    }
    expect(told).toEqual(["first", "second"]);
  });
});
