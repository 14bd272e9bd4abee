/** What a run of the benchmark says when it is over: all of it, in every form. */

import { test } from "vitest";

import { type Report, reportAs } from "../../bench/report.ts";

const REPORT: Report = {
  about: ["Edgeway 0.1.0, 2026-11-21"],
  targets: [{ wanted: "quick", measured: "0.90 (1 conn.)", outcome: "met" }],
  lines: [],
  notes: ["idle: one run"],
  failures: ["bill: McpAgent could not be measured"],
};

test("JSON is the report itself", ({ expect }) => {
  expect(JSON.parse(reportAs("json", REPORT))).toEqual(REPORT);
});

test("Markdown has the targets, the table, and what has to be said, failures too", ({ expect }) => {
  const text = reportAs("markdown", REPORT);
  expect(text).toContain("| quick | 0.90 (1 conn.) | met |\n");
  expect(text).toContain("| row |  |  | Edgeway | peer |  | ratio |\n");
  expect(text).toContain("- Edgeway 0.1.0, 2026-11-21\n- idle: one run\n");
  expect(text).toContain("- Not measured: bill: McpAgent could not be measured\n");
});

test("the table has the same", ({ expect }) => {
  const text = reportAs("table", REPORT);
  expect(text).toContain("Edgeway 0.1.0, 2026-11-21\nidle: one run\n");
  expect(text).toContain("met: quick: 0.90 (1 conn.)\n");
});
