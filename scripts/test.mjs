/**
 * `npm test`: every check of the project, one after the other, all of them whatever fails.
 * The last line gives the totals of all together: a check that is no test suite counts as one.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "edgeway-test-"));
const report = join(scratch, "vitest.json");

const CHECKS = [
  ["formatting", "oxfmt", "--check"],
  ["lint", "oxlint", "--type-aware", "--deny-warnings"],
  ["types of the Worker", "tsc", "-p", "tsconfig.json"],
  ["types of the tests and scripts", "tsc", "-p", "tsconfig.node.json"],
  ["unused code", "knip"],
];
const SUITES = ["vitest", "run", "--reporter=default", "--reporter=json", `--outputFile=${report}`];

let passed = 0;
let failed = 0;
let skipped = 0;

for (const [name, command = "", ...args] of CHECKS) {
  const isGreen = run(command, args);
  process.stdout.write(`${isGreen ? "✓" : "✗"} ${name}\n`);
  if (isGreen) passed += 1;
  else failed += 1;
}

const [command = "", ...args] = [...SUITES, ...process.argv.slice(2)];
const isGreen = run(command, args);
const totals = readTotals();
passed += totals.numPassedTests;
failed += totals.numFailedTests;
skipped += totals.numPendingTests + totals.numTodoTests;
// A suite that could not even be loaded, or an error outside of any test, has no failed test.
if (!isGreen && totals.numFailedTests === 0) failed += 1;

rmSync(scratch, { recursive: true, force: true });
process.stdout.write(`\n${passed} passed, ${failed} failed, ${skipped} skipped\n`);
process.exit(failed === 0 ? 0 : 1);

function run(/** @type {string} */ name, /** @type {readonly string[]} */ given) {
  const env = { ...process.env, PATH: `${root}node_modules/.bin:${process.env["PATH"]}` };
  return (
    spawnSync(`${root}node_modules/.bin/${name}`, given, { cwd: root, stdio: "inherit", env })
      .status === 0
  );
}

function readTotals() {
  try {
    return JSON.parse(readFileSync(report, "utf8"));
  } catch {
    // The runner broke before it could report: counted as a failure above.
    return { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 };
  }
}
