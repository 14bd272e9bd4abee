/** Packages that few commands need are installed when these run, from a lock of their own, and at no other time. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { inBench, inRoot } from "./project.ts";

/** @throws Error with what npm said. */
export function installPeers(): void {
  installLocked(inBench(), "The peers");
}

/**
 * @param folder that has the lock.
 * @param what is installed, for who waits.
 * @throws Error with what npm said.
 */
export function installLocked(folder: string, what: string, ...options: readonly string[]): void {
  const lock = readFileSync(join(folder, "package-lock.json"), "utf8");
  const mark = join(folder, "node_modules", ".installed-lock.json");
  if (existsSync(mark) && readFileSync(mark, "utf8") === lock) return;
  process.stderr.write(`${what} are installed\n`);
  const args = ["ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"];
  const installed = spawnSync("npm", [...args, ...options], { cwd: inRoot(), encoding: "utf8" });
  if (installed.status !== 0) throw new Error(`${what} were not installed:\n${installed.stderr}`);
  writeFileSync(mark, lock);
}
