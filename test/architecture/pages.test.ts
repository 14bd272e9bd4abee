/** Every view is among the samples that a real browser shows on a phone and on a desk (`test/e2e/pages.test.ts`). */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";

import { ROOT } from "../support/process.ts";

const VIEW = /^export function (\w+View)\([^)]*\): View \{/gm;

const views = globSync("src/pages/view/*.ts", { cwd: ROOT }).flatMap((path) =>
  Array.from(readFileSync(join(ROOT, path), "utf8").matchAll(VIEW), ([, name = ""]) => name),
);

test("P18: every view has a sample", ({ expect }) => {
  const samples = readFileSync(join(ROOT, "test/support/page-samples.ts"), "utf8");
  expect(views.length).toBeGreaterThan(25);
  expect(views.filter((name) => !new RegExp(String.raw`\b${name}\(`).test(samples))).toEqual([]);
});
