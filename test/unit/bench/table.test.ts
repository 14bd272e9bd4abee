/** The table of the benchmark: every number in its place, and none that was not taken. */

import { test } from "vitest";

import { linesOf } from "../../../bench/lines.ts";
import { asMarkdown, asText } from "../../../bench/table.ts";
import { BILL, CALL, rate } from "./fixture.ts";

test("asText() lines the columns up, with the spread in brackets", ({ expect }) => {
  const [, , requests = ""] = asText(linesOf([CALL, BILL])).split("\n");
  expect(requests).toMatch(
    /^call {2}16 conn\. {2}req\/s {2}1,100 \(1,000–1,200\) {2}McpAgent {2}550 \(500–600\) {2,}2\.00$/,
  );
});

test("where nobody else does the same, there is a dash", ({ expect }) => {
  const alone = { ...BILL, measured: BILL.measured.slice(0, 1) };
  expect(asText(linesOf([alone]))).toMatch(/\nbill {2}call {2}\$ {2}0\.3 +– +– +–\n$/);
});

test("asMarkdown() puts the peers of a metric in one line, in order", ({ expect }) => {
  const [ours, agent] = CALL.measured;
  const other = { name: "other", samples: [2000, 2400, 2200].map(rate) };
  const measured = [ours, agent, other].filter((each) => each !== undefined);
  const metrics = CALL.metrics.slice(0, 1);
  expect(asMarkdown(linesOf([{ ...CALL, metrics, measured }])).split("\n")[2]).toBe(
    "| call | 16 conn. | req/s | 1,100 (1,000–1,200) | McpAgent<br>other | 550 (500–600)<br>2,200 (2,000–2,400) | 2.00<br>0.50 |",
  );
});

test("who comes near the load generator's ceiling is marked", ({ expect }) => {
  const ceiling = { name: "load", samples: [rate(1200)] };
  const text = asText(linesOf([{ ...CALL, ceiling }]));
  expect(text).toContain("1,100* (1,000–1,200)  load");
  expect(text).toContain("McpAgent  550 (500–600)");
});

test("asMarkdown() is a table of as many columns in every line", ({ expect }) => {
  const lines = asMarkdown(linesOf([CALL, BILL]))
    .trimEnd()
    .split("\n");
  expect(lines).toHaveLength(5);
  expect(new Set(lines.map((line) => line.split("|").length)).size).toBe(1);
  expect(lines[3]).toBe(
    "| call | 16 conn. | req/s | 1,100 (1,000–1,200) | McpAgent | 550 (500–600) | 2.00 |",
  );
});
