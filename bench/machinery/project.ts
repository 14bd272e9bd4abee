/** Where things are. */

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The project that is measured: the one that this file is in. */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const NODE = process.execPath;

export const inRoot = (...path: readonly string[]): string => join(ROOT, ...path);
export const inBench = (...path: readonly string[]): string => join(ROOT, "bench", ...path);
export const bin = (name: string): string => inRoot("node_modules", ".bin", name);

/** In memory where the system has such a place: then no disk is measured, neither ours nor a peer's. */
const MEMORY = "/dev/shm";
let made: string | undefined;

/** A folder that is gone when the benchmark ends. */
export function scratch(...path: readonly string[]): string {
  if (made === undefined) {
    const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), "edgeway-bench-"));
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    made = folder;
  }
  return join(made, ...path);
}
