/** The features of the matrix: each is tried, and each that does not cross everywhere says what comes instead. */

import { expect, test } from "vitest";

import { CELLS, crosses } from "./matrix.ts";
import { FEATURES } from "./matrix-features.ts";

test("every feature that does not cross has a reason", () => {
  const silent = FEATURES.filter(
    ({ since, instead }) => (since === undefined) !== (instead === undefined),
  );
  expect(silent.map(({ name }) => name)).toEqual([]);
});

test("every feature is tested wherever it crosses", () => {
  const untried = FEATURES.flatMap((feature) =>
    CELLS.filter((cell) => crosses(feature, cell) && feature.applies?.(cell) === false).map(
      ({ client, server }) => `${feature.name}: ${client}, ${server}`,
    ),
  );
  expect(untried).toEqual([]);
});
