/** Equal hashes: by chance, and on purpose. */

import { describe, test } from "vitest";

import { Naming } from "../../../../src/catalog/names/naming.ts";
import { meeting, serverOf } from "./naming-fixture.ts";

const endpoint = meeting({ slug: "a" }, { slug: "b" });
const a = serverOf(endpoint, "a");
const b = serverOf(endpoint, "b");

describe("names that have the same hash", () => {
  const naming = new Naming(endpoint, 45, (text) => (text.includes("!") ? 2n ** 64n - 1n : 5n));

  test("get the next hashes in the order of their spelling", ({ expect }) => {
    const called = naming.publicNames(a, "tools", ["c!", "a!", "plain", "b!"]);
    const tails = ["a!", "b!", "c!"].map((name) => called.get(name)?.slice(-13));
    expect(tails).toEqual(["fvvvvvvvvvvvv", "0000000000000", "0000000000001"]);
    expect(called.get("plain")).toBe("a__plain");
  });

  test("are ordered by code units, which no version of Unicode changes", ({ expect }) => {
    // In a locale, "Z" comes after "a" and "é" before "z".
    const called = naming.publicNames(a, "tools", [
      "é ",
      "a ",
      "Z ",
      "z ",
      "\u{1f600} ",
      "\uffee ",
    ]);
    const order = [...called].toSorted(([, one], [, two]) =>
      one.slice(-13) < two.slice(-13) ? -1 : 1,
    );
    expect(order.map(([name]) => name)).toEqual(["Z ", "a ", "z ", "é ", "\u{1f600} ", "\uffee "]);
  });

  test("of one list do not affect another list", ({ expect }) => {
    const [one] = naming.publicNames(a, "tools", ["a!"]).values();
    const [two] = naming.publicNames(a, "prompts", ["b!"]).values();
    expect(one?.slice(-13)).toBe(two?.slice(-13));
  });
});

describe("servers whose slugs have the same hash", () => {
  const naming = new Naming(endpoint, 45, () => 2n ** 20n - 1n);

  test("have different tags, whatever their order", ({ expect }) => {
    const turned = new Naming({ ...endpoint, servers: [b, a] }, 45, () => 2n ** 20n - 1n);
    for (const server of [a, b]) {
      const [called = ""] = naming.publicNames(server, "tools", ["x y"]).values();
      expect(naming.locate("tools", called)).toEqual({ kind: "short", server });
      expect([...turned.publicNames(server, "tools", ["x y"]).values()]).toEqual([called]);
    }
    expect([...naming.publicNames(a, "tools", ["x y"]).values()][0]?.slice(-17, -13)).toBe("vvvv");
    expect([...naming.publicNames(b, "tools", ["x y"]).values()][0]?.slice(-17, -13)).toBe("0000");
  });
});

test("a server whose names all collide costs no more than another", ({ expect }) => {
  const names = Array.from({ length: 20_000 }, (_, at) => `tool ${at}`);
  const naming = new Naming(endpoint, 45, () => 5n);
  const start = performance.now();
  const called = naming.publicNames(a, "tools", names);
  // 200,000,000 steps, if each looked at each.
  expect(performance.now() - start).toBeLessThan(5000);
  expect(new Set(called.values()).size).toBe(20_000);
});
