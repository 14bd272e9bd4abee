/** The README shows the matrix that is tested, and no other. */

import { readFile } from "node:fs/promises";

import { expect, test } from "vitest";

import { ROOT } from "../support/process.ts";
import { CELLS, crosses } from "./matrix.ts";
import { FEATURES } from "./matrix-features.ts";
import { tableOf } from "./matrix-table.ts";

const BEGIN = "<!-- matrix: from test/e2e/matrix-features.ts -->";
const END = "<!-- end of matrix -->";

test("its table is made of what the tests of the matrix expect", async () => {
  const readme = await readFile(`${ROOT}README.md`, "utf8");
  const [, rest] = readme.split(BEGIN);
  const shown = rest?.split(END)[0];
  expect(shown, `README.md, between ${BEGIN} and ${END}`).toBe(`\n\n${tableOf(FEATURES)}\n\n`);
});

test("what does not cross is said, and why", () => {
  const silent = FEATURES.filter(
    ({ since, instead }) => (since === undefined) !== (instead === undefined),
  );
  expect(silent.map(({ name }) => name)).toEqual([]);
});

test("every feature is tried wherever it crosses", () => {
  const untried = FEATURES.flatMap((feature) =>
    CELLS.filter((cell) => crosses(feature, cell) && feature.applies?.(cell) === false).map(
      ({ client, server }) => `${feature.name}: ${client}, ${server}`,
    ),
  );
  expect(untried).toEqual([]);
});
