/** The version of a catalog's content. */

import * as fc from "fast-check";
import { test } from "vitest";

import { versionOf } from "../../../../src/catalog/read/version.ts";

const texts = fc.array(
  fc.jsonValue().map((value) => JSON.stringify(value)),
  { maxLength: 5 },
);

test("a version is the same for the same texts, and different for others", async ({ expect }) => {
  await fc.assert(
    fc.asyncProperty(texts, texts, async (one, other) => {
      const areAlike = JSON.stringify(one) === JSON.stringify(other);
      expect((await versionOf(one)) === (await versionOf(other))).toBe(areAlike);
    }),
    { numRuns: 100 },
  );
});

test("a version depends on every piece of a long text", async ({ expect }) => {
  const long = Array.from({ length: 40 }, (_, n) => JSON.stringify(`${n}`.repeat(20_000)));
  const versions = new Set([await versionOf(long)]);
  for (const at of [0, 13, 20, 39]) {
    versions.add(await versionOf(long.with(at, '"other"')));
    versions.add(await versionOf(long.toSpliced(at, 1)));
  }
  versions.add(await versionOf(long.toReversed()));
  expect(versions.size).toBe(10);
  for (const version of versions) expect(version).toMatch(/^[\w-]{16}$/);
});
