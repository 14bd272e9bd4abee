/** What a run of the benchmark says when it is over: all of it, in every form. */

import { test } from "vitest";

import { chartOf } from "../../../bench/chart.ts";
import { documentOf } from "../../../bench/document.ts";
import { type Report, reportAs } from "../../../bench/report.ts";

const REPORT: Report = {
  about: ["Edgeway 0.1.0, 2026-11-21"],
  targets: [
    {
      ...{ name: "Quick", against: "another", measured: "0.95", wanted: "at least 0.9" },
      outcome: "met",
    },
  ],
  lines: [],
  notes: ["idle: one run"],
  failures: ["bill: McpAgent could not be measured"],
};

test("JSON is the report itself", ({ expect }) => {
  expect(JSON.parse(reportAs("json", REPORT))).toEqual(REPORT);
});

test("Markdown has the targets, the table, and what has to be said, failures too", ({ expect }) => {
  const text = reportAs("markdown", REPORT);
  expect(text).toContain("| Quick | another | 0.95 | at least 0.9 | met |\n");
  expect(text).toContain("| row |  |  | Edgeway | peer |  | ratio |\n");
  expect(text).toContain("- Edgeway 0.1.0, 2026-11-21\n- idle: one run\n");
  expect(text).toContain("- Not measured: bill: McpAgent could not be measured\n");
});

test("the table has the same", ({ expect }) => {
  const text = reportAs("table", REPORT);
  expect(text).toContain("Edgeway 0.1.0, 2026-11-21\nidle: one run\n");
  expect(text).toContain("met: Quick, against another: 0.95, at least 0.9 wanted\n");
});

test("a run is written into the blocks of the document, and the rest stays as it is", ({
  expect,
}) => {
  const before = `# Benchmarks

<!-- targets: from npm run bench -- --write -->
an old table
<!-- end of targets -->

By hand.

<!-- measurements: from npm run bench -- --write -->
<!-- end of measurements -->
`;
  const text = documentOf(before, REPORT);
  expect(text).toMatch(/^# Benchmarks\n\n<!-- targets: .* -->\n\n\| target/);
  expect(text).toContain(
    "| Quick | another | 0.95 | at least 0.9 | met |\n\n<!-- end of targets -->\n\nBy hand.\n",
  );
  expect(text).toMatch(/\n- idle: one run\n(?:- .*\n)*\n<!-- end of measurements -->\n$/);
  expect(text).not.toContain("an old table");
  expect(documentOf(text, REPORT)).toBe(text);
  expect(() => documentOf("# Benchmarks", REPORT)).toThrow('has no block "targets"');
});

test("the chart has a bar for each ratio of a rate, and none for latencies", ({ expect }) => {
  const named = { name: "Edgeway", samples: [1], value: 1, median: 1, low: 1, high: 1 };
  const line = { ...{ row: "call", variant: "all", digits: 0 }, ours: named, ratio: 2 };
  const peer = { ...named, name: "a <peer>" };
  const chart = chartOf([
    { ...line, unit: "req/CPU-s", peer },
    { ...line, unit: "req/CPU-s", variant: "1 conn.", peer },
    { ...line, unit: "ms p50", peer },
  ]);
  expect(chart).toContain(">call, all, req/CPU-s</text>");
  expect(chart).toContain(">a &lt;peer></text>");
  expect(chart).toContain(">2.00</text>");
  expect(chart).not.toContain("ms p50");
  expect(chart).not.toContain("1 conn.");
});
