/**
 * `npm run check`: everything that can be judged without running the gateway. Each check runs, whatever
 * the others say.
 */

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = `${root}node_modules/.bin/`;

const CHECKS = [
  ["formatting", "oxfmt", "--check"],
  ["lint", "oxlint", "--type-aware", "--deny-warnings"],
  ["types of the Worker", "tsc", "-p", "tsconfig.json"],
  ["types of the tests and scripts", "tsc", "-p", "tsconfig.node.json"],
  ["unused code", "knip"],
];

/** Runs them side by side. @returns how many passed and failed, and what they said. */
export async function runChecks() {
  const results = await Promise.all(CHECKS.map(runCheck));
  const passed = results.filter(({ isGreen }) => isGreen).length;
  const said = results.map(({ output }) => output).join("");
  return { passed, failed: results.length - passed, said };
}

async function runCheck(/** @type {readonly string[]} */ [name, command, ...args]) {
  const env = { ...process.env, PATH: `${bin}:${process.env["PATH"]}` };
  const child = spawn(`${bin}${command}`, args, {
    ...{ cwd: root, env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => (output += text));
  }
  const isGreen = (await new Promise((resolve) => child.on("close", resolve))) === 0;
  return { isGreen, output: `${output}${isGreen ? "✓" : "✗"} ${name}\n` };
}

if (import.meta.main) {
  const { failed, said } = await runChecks();
  process.stdout.write(said);
  process.exitCode = failed === 0 ? 0 : 1;
}
