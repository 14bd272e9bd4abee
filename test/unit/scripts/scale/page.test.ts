/** The tables of the model of scale. */

import { test } from "vitest";

import { freeTable } from "../../../../scripts/scale/free.ts";
import { dayTable, limitsTable, mixTable, partsTable } from "../../../../scripts/scale/page.ts";

test.for([
  ["mix", mixTable],
  ["day", dayTable],
  ["parts", partsTable],
  ["limits", limitsTable],
  ["free plan", freeTable],
] as const)("the table of the %s has as many columns in every line", ([, tableOf], { expect }) => {
  const lines = tableOf().split("\n");
  expect(lines.length).toBeGreaterThan(5);
  expect(new Set(lines.map((line) => line.split("|").length)).size).toBe(1);
  expect(tableOf()).not.toMatch(/NaN|undefined|Infinity/);
});

test("a limit that is met below the most users stands out", ({ expect }) => {
  const users = limitsTable()
    .split("\n")
    .slice(2)
    .map((line) => line.split(" | ").at(-1)?.replace(" |", "") ?? "");
  const standOut = users.filter((cell) => cell.startsWith("**"));
  expect(standOut.length).toBeGreaterThan(0);
  for (const cell of users) {
    const number = Number(cell.replaceAll(/\D/g, ""));
    expect(cell.startsWith("**")).toBe(number < 1_000_000);
  }
});
