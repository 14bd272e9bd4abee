/**
 * `npm test`: every check and every suite of the project, all of them whatever fails. The last line
 * gives the totals of all together: a check that is no test suite counts as one.
 *
 * The suites run in four lanes: each waits for much of its time, for real programs and for real time to
 * pass.
 */

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { runChecks } from "./check.mjs";

/**
 * What the runner's JSON reporter writes, as far as it is read here.
 * @typedef {object} Report
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numPendingTests
 * @property {number} numTodoTests
 * @property {SuiteReport[]} testResults
 *
 * @typedef {object} SuiteReport
 * @property {string} name its path
 * @property {string} status
 * @property {string} message
 * @property {{ status: string, fullName: string, failureMessages: string[] }[]} assertionResults
 */

const root = fileURLToPath(new URL("..", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "edgeway-test-"));
const env = { ...process.env, PATH: `${root}node_modules/.bin:${process.env["PATH"]}` };

/** Arguments go to the test runner: one lane runs what they name, without the other checks. */
const given = process.argv.slice(2);
const LANES =
  given.length > 0
    ? [given]
    : [
        ["--project", "node", "--shard=1/2"],
        ["--project", "node", "--shard=2/2"],
        ["--project", "workerd", "--maxWorkers=1"],
        ["--project", "unit", "--project", "sign-in", "--maxWorkers=1"],
      ];

let { passed, failed } = given.length > 0 ? { passed: 0, failed: 0 } : runChecks();
let skipped = 0;

const lanes = await Promise.all(LANES.map((args, lane) => runSuites(args, lane)));
for (const { isGreen, said, totals } of lanes) {
  for (const chunk of said) process.stdout.write(chunk);
  passed += totals.numPassedTests;
  failed += totals.numFailedTests;
  skipped += totals.numPendingTests + totals.numTodoTests;
  // A suite that could not even be loaded, or an error outside of any test, has no failed test.
  if (!isGreen && totals.numFailedTests === 0) failed += 1;
}

rmSync(scratch, { recursive: true, force: true });
// Once more at the end, since who looks at a long log looks there.
for (const { totals } of lanes) for (const line of failuresOf(totals)) process.stdout.write(line);
process.stdout.write(`\n${passed} passed, ${failed} failed, ${skipped} skipped\n`);
process.exit(failed === 0 ? 0 : 1);

/** The first lane is seen as it runs; what the others say is shown when all are done. */
async function runSuites(/** @type {readonly string[]} */ args, /** @type {number} */ lane) {
  const report = join(scratch, `${lane}.json`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile=${report}`];
  const child = spawn(`${root}node_modules/.bin/vitest`, ["run", ...reporters, ...args], {
    ...{ cwd: root, env },
    stdio: lane === 0 ? "inherit" : ["ignore", "pipe", "pipe"],
  });
  /** @type {Buffer[]} */
  const said = [];
  child.stdout?.on("data", (chunk) => said.push(chunk));
  child.stderr?.on("data", (chunk) => said.push(chunk));
  const code = await new Promise((resolve) => child.on("close", resolve));
  return { isGreen: code === 0, said, totals: readTotals(report) };
}

/** @returns {Report} */
function readTotals(/** @type {string} */ report) {
  try {
    return JSON.parse(readFileSync(report, "utf8"));
  } catch {
    // The runner broke before it could report: counted as a failure above.
    const none = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 };
    return { ...none, testResults: [] };
  }
}

/**
 * What failed, a few lines each: a file that could not be run, or a test of it.
 * @returns {string[]}
 */
function failuresOf(/** @type {Report} */ report) {
  return report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const tests = assertionResults.filter((test) => test.status === "failed");
    const file = relative(root, name);
    if (status === "failed" && tests.length === 0) return [failure(file, message)];
    return tests.map((test) => failure(`${file} > ${test.fullName}`, test.failureMessages[0]));
  });
}

function failure(/** @type {string} */ what, /** @type {string | undefined} */ why = "") {
  const lines = why.split("\n").slice(0, 6);
  return `\n✗ ${what}\n${lines.map((line) => `    ${line.slice(0, 200)}\n`).join("")}`;
}
