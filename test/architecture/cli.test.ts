/** The command as people get it: one small file that needs nothing but Node. */

import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { builtinModules } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, test } from "vitest";

import own from "../../cli/package.json" with { type: "json" };
import { build } from "../../cli/build.mjs";
import root from "../../package.json" with { type: "json" };
import { NODE, ROOT } from "../support/process.ts";

const run = promisify(execFile);

/** `npm run measure -- command` says what has them; docs/stdio.md, why they are not fewer. */
const MAX_BYTES = 77 * 1024;

describe("the command", () => {
  let folder: string;
  let text: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "edgeway-cli-"));
    const file = join(folder, "edgeway.mjs");
    await build(file);
    text = readFileSync(file, "utf8");
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("is a file of at most 77 KiB", ({ expect }) => {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES);
  });

  test("imports what is built into Node, and nothing else", ({ expect }) => {
    const imported = [...text.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(
      ([, name = ""]) => name,
    );
    const foreign = imported.filter((name) => !builtinModules.includes(name.replace("node:", "")));
    expect(foreign).toEqual([]);
    expect(text).not.toContain("require(");
  });

  test("starts in a checkout of any name, and is built there first", async ({ expect }) => {
    // Each of these has a meaning in a URL.
    const checkout = join(folder, "a#b?c%41");
    for (const part of ["cli", "src/lib", "src/protocol", "package.json"]) {
      cpSync(join(ROOT, part), join(checkout, part), {
        recursive: true,
        filter: (source) => basename(source) !== "dist",
      });
    }
    symlinkSync(join(ROOT, "node_modules"), join(checkout, "node_modules"));
    const { stdout } = await run(NODE, [join(checkout, "cli/edgeway.mjs"), "--version"]);
    expect(stdout).toBe(`edgeway ${root.version}\n`);
  });

  test("can be published as a package of its own, of the version of the gateway", ({ expect }) => {
    expect({ ...own, description: "", bin: "" }).toMatchObject({
      name: root.name,
      version: root.version,
      engines: root.engines,
      license: root.license,
    });
    expect(own).not.toHaveProperty("dependencies");
    expect(Object.keys(own.bin)).toEqual(Object.keys(root.bin));
    expect(text.startsWith("#!/usr/bin/env node\n")).toBe(true);
  });
});
