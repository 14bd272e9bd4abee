/**
 * `npm test`: every check and every suite of the project, all of them whatever fails. The last line
 * gives the totals of all together: a check that is no test suite counts as one.
 *
 * The suites run in lanes side by side: each waits for much of its time, for real programs and for real
 * time to pass.
 */

import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { runChecks } from "./check.mjs";
import { makeScratchFolder } from "./scratch-folder.mjs";

/**
 * What the runner's JSON reporter writes, as far as it is read here.
 * @typedef {object} Report
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numPendingTests
 * @property {number} numTodoTests
 * @property {SuiteReport[]} testResults
 *
 * @typedef {object} Lane
 * @property {string} name
 * @property {readonly string[]} args of the test runner
 *
 * @typedef {object} SuiteReport
 * @property {string} name its path
 * @property {number} startTime in milliseconds
 * @property {number} endTime
 * @property {string} status
 * @property {string} message
 * @property {{ status: string, fullName: string, failureMessages: string[] }[]} assertionResults
 */

const LONGEST_SHOWN = 10;
/** Many times what a lane of all suites takes. One that hangs is ended, so that what it has said is seen. */
const LANE_MINUTES = 60;

const root = fileURLToPath(new URL("..", import.meta.url));
const scratch = makeScratchFolder("edgeway-test-");
const env = {
  ...process.env,
  PATH: `${root}node_modules/.bin:${process.env["PATH"]}`,
  TMPDIR: scratch,
  LASTING_TMPDIR: tmpdir(),
  // Hundreds of Node processes are started, of a few programs: each is compiled once.
  NODE_COMPILE_CACHE: join(scratch, "compiled"),
};

/** Arguments go to the test runner: one lane runs what they name, without the other checks. */
const given = process.argv.slice(2);
/** @type {readonly Lane[]} */
const LANES =
  given.length > 0
    ? [{ name: "tests", args: given }]
    : [
        // In several processes: see vitest.config.ts.
        { name: "end to end", args: projects("node") },
        // In two isolates: most of its tests wait for real time to pass.
        { name: "integration", args: [...projects("workerd"), "--maxWorkers=2"] },
        { name: "apart and sign-in", args: oneByOne("workerd-apart", "sign-in", "sign-in-apart") },
        { name: "unit", args: oneByOne("unit") },
      ];

function projects(/** @type {readonly string[]} */ ...names) {
  return names.flatMap((name) => ["--project", name]);
}

/** @returns the arguments that run these, one file after the other. */
function oneByOne(/** @type {readonly string[]} */ ...names) {
  return [...projects(...names), "--maxWorkers=1"];
}

/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  process.on(signal, () => {
    for (const child of running) endGroup(child);
    removeScratch();
    process.exit(128 + constants.signals[signal]);
  });
}

let passed = 0;
let failed = 0;
let skipped = 0;
const checks = given.length > 0 ? undefined : runChecks();
const lanes = await Promise.all(LANES.map((lane, index) => runSuites(lane, index)));
if (checks !== undefined) {
  const ran = await checks;
  process.stdout.write(ran.said);
  passed += ran.passed;
  failed += ran.failed;
}
for (const { isGreen, said, totals } of lanes) {
  for (const chunk of said) process.stdout.write(chunk);
  passed += totals.numPassedTests;
  failed += totals.numFailedTests;
  skipped += totals.numPendingTests + totals.numTodoTests;
  // A suite that could not even be loaded, or an error outside of any test, has no failed test.
  if (!isGreen && totals.numFailedTests === 0) failed += 1;
}

removeScratch();
// Once more at the end, since who looks at a long log looks there.
for (const { totals } of lanes) for (const line of failuresOf(totals)) process.stdout.write(line);
const times = `${longestOf(lanes)}\n${timesOf(lanes)}`;
process.stdout.write(`\n${times}\n${passed} passed, ${failed} failed, ${skipped} skipped\n`);
// An exit now would lose what the reader of a pipe has not taken yet.
process.exitCode = failed === 0 ? 0 : 1;

/** What was ended may still write for a moment. */
function removeScratch() {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 20 });
}

/**
 * The first lane is seen as it runs; what the others say is shown when all are done.
 *
 * A shell in between tells the processor time of all that a lane has started. Each lane has a process
 * group of its own, so that it ends as a whole.
 */
async function runSuites(/** @type {Lane} */ { name, args }, /** @type {number} */ lane) {
  const report = join(scratch, `${lane}.json`);
  const times = join(scratch, `${lane}.times`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile=${report}`];
  const vitest = `${root}node_modules/.bin/vitest`;
  const script = '"$@"; code=$?; times >"$TIMES"; exit $code';
  const startedAt = performance.now();
  const child = spawn("sh", ["-c", script, "lane", vitest, "run", ...reporters, ...args], {
    cwd: root,
    env: { ...env, TIMES: times },
    detached: true,
    stdio: lane === 0 ? ["ignore", "inherit", "inherit"] : ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  /** @type {Buffer[]} */
  const said = [];
  child.stdout?.on("data", (chunk) => said.push(chunk));
  child.stderr?.on("data", (chunk) => said.push(chunk));
  const end = () => {
    said.push(Buffer.from(`\n✗ ${name} has not ended within ${LANE_MINUTES} minutes.\n`));
    endGroup(child);
  };
  // What somebody asks for may take as long as they want: SEED_FACTOR multiplies it.
  const late = given.length > 0 ? undefined : setTimeout(end, LANE_MINUTES * 60_000);
  const code = await new Promise((resolve) => child.on("close", resolve));
  clearTimeout(late);
  running.delete(child);
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    name,
    isGreen: code === 0,
    said,
    totals: readTotals(report),
    cpuSeconds: readTimes(times),
    seconds,
  };
}

/** @returns the sum of what `times` of the shell tells: minutes and seconds, of user and system. */
function readTimes(/** @type {string} */ path) {
  if (!existsSync(path)) return 0;
  const parts = readFileSync(path, "utf8").matchAll(/(\d+)m([\d.]+)s/g);
  return [...parts].reduce(
    (sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds),
    0,
  );
}

function endGroup(/** @type {import("node:child_process").ChildProcess} */ { pid }) {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGTERM");
  } catch {
    // It has ended meanwhile.
  }
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

/**
 * The files that took longest, which is more than their processor time while others run.
 * @returns {string}
 */
function longestOf(/** @type {readonly { totals: Report }[]} */ lanes) {
  return lanes
    .flatMap(({ totals }) => totals.testResults)
    .map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1000 }))
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, LONGEST_SHOWN)
    .map(({ name, seconds }) => `${seconds.toFixed(0).padStart(5)} s  ${relative(root, name)}\n`)
    .join("");
}

/**
 * Where the processor's time went. What was killed together with its parent is not in it.
 * @returns {string}
 */
function timesOf(
  /** @type {readonly { name: string, cpuSeconds: number, seconds: number }[]} */ lanes,
) {
  return lanes
    .map(({ name, cpuSeconds, seconds }) => {
      const [cpu, wall] = [cpuSeconds, seconds].map((value) => value.toFixed(0).padStart(5));
      return `${name.padEnd(20)}${cpu} s of processor time, ${wall} s in all\n`;
    })
    .join("");
}
