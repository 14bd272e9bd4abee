/**
 * `npm run check`: everything that can be judged without running the gateway. Each check runs, whatever
 * the others say.
 */

import { spawnSync } from "node:child_process";
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

/** @returns how many checks passed, and how many failed. */
export function runChecks() {
  const env = { ...process.env, PATH: `${bin}:${process.env["PATH"]}` };
  const totals = { passed: 0, failed: 0 };
  for (const [name, command, ...args] of CHECKS) {
    const { status } = spawnSync(`${bin}${command}`, args, { cwd: root, stdio: "inherit", env });
    process.stdout.write(`${status === 0 ? "✓" : "✗"} ${name}\n`);
    totals[status === 0 ? "passed" : "failed"] += 1;
  }
  return totals;
}

if (import.meta.main) process.exitCode = runChecks().failed === 0 ? 0 : 1;
