/** What lasts in a module is looked up in the isolate whose code runs, and what never changes stays as it is. */

import { describe, expect, test } from "vitest";

import { withMemory } from "./memory.ts";

const made = (source: string): string => withMemory(source, "module.ts");

describe("a variable of a module", () => {
  test("is remembered by each isolate, wherever it is used", () => {
    const source = "let count: number = 0;\nexport function next() {\n  return (count += 1);\n}\n";
    expect(made(source)).toBe(
      "const count = remembered(() => ({ value: 0 }));\nexport function next() {\n  return (count.value += 1);\n}\n",
    );
  });

  test("has no value until it gets one", () => {
    expect(made("let last: string | undefined;")).toBe(
      "const last = remembered(() => ({ value: undefined }));",
    );
  });

  test("is not taken for a member of that name", () => {
    expect(made("let seen = 1;\nuse(facts.seen, { seen: seen });")).toBe(
      "const seen = remembered(() => ({ value: 1 }));\nuse(facts.seen, { seen: seen.value });",
    );
  });

  test("is refused where it is exported, since it is used elsewhere", () => {
    expect(() => made("export let count = 0;")).toThrow(
      "module.ts has a variable that is not understood: export let count = 0;",
    );
  });
});

describe("what a module makes once", () => {
  test.for([
    ["const found = new WeakMap<object, string>();", "remembered(() => new WeakMap"],
    ["export const cache = new BoundedCache({ maxEntries: 10 });", "remembered(() => new Bounded"],
    ["const seen = new Set<string>();", "remembered(() => new Set"],
  ] as const)("is remembered by each isolate: %s", ([source, part], { expect }) => {
    expect(made(source)).toContain(part);
  });

  test.for([
    "const places = { GET: new Leases<string>() };",
    "const places = {\n  GET: new Map(),\n};",
  ])("is refused in a table, where all isolates would share it: %s", (source, { expect }) => {
    expect(() => made(source)).toThrow(
      "module.ts has a variable that is not understood: const places = {",
    );
  });

  test.for([
    'const NAMES = new Set(["a", "b"]);',
    "const ENCODER = new TextEncoder();",
    "const LIMIT = 10;",
    "const pattern: Readonly<Pattern> = new URLPattern({});",
  ])("stays as it is where it never changes: %s", (source, { expect }) => {
    expect(made(source)).toBe(source);
  });
});
