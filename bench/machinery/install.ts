/** The peers are installed when the benchmark is run, from their own lock, and at no other time. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

import { inBench, inRoot } from "./project.ts";

/** @throws Error with what npm said. */
export function installPeers(): void {
  const lock = readFileSync(inBench("package-lock.json"), "utf8");
  const mark = inBench("node_modules", ".installed-lock.json");
  if (existsSync(mark) && readFileSync(mark, "utf8") === lock) return;
  process.stderr.write("Installing the peers\n");
  const args = ["ci", "--prefix", inBench(), "--ignore-scripts", "--no-audit", "--no-fund"];
  const installed = spawnSync("npm", args, { cwd: inRoot(), encoding: "utf8" });
  if (installed.status !== 0) throw new Error(`The peers were not installed:\n${installed.stderr}`);
  writeFileSync(mark, lock);
}
