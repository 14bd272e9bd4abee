/** The page of the benchmark says of each target that was missed why, and of no other. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";

import { unexplained } from "../../bench/missed.ts";
import { ROOT } from "../support/process.ts";

test("each target that was missed has a paragraph in docs/benchmarks.md", ({ expect }) => {
  expect(unexplained(readFileSync(join(ROOT, "docs/benchmarks.md"), "utf8"))).toEqual([]);
});
