/** A test stands in the folder of the code that it tests, so that a reader finds one from the other. */

import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "vitest";

import { ROOT } from "../support/process.ts";

const foldersOfTests = (folder: string): readonly string[] => [
  ...new Set(
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".test.ts"))
      .map((path) => dirname(path)),
  ),
];

describe("a folder of tests is a folder of the code", () => {
  test.for(foldersOfTests("test/unit"))("test/unit/%s", (folder, { expect }) => {
    const mirrored = ["src", "."].some((parent) => existsSync(join(ROOT, parent, folder)));
    expect(folder, "unit tests stand in a folder, not beside it").not.toBe(".");
    expect(mirrored, `neither src/${folder} nor ${folder} exists`).toBe(true);
  });

  test.for(foldersOfTests("test/integration"))("test/integration/%s", (folder, { expect }) => {
    expect(existsSync(join(ROOT, "src", folder)), `src/${folder} does not exist`).toBe(true);
  });
});
