/** Where things are. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { makeScratchFolder } from "../../scripts/scratch-folder.mjs";

/** The project that is measured: the one that this file is in. */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const NODE = process.execPath;

export const inRoot = (...path: readonly string[]): string => join(ROOT, ...path);
export const inBench = (...path: readonly string[]): string => join(ROOT, "bench", ...path);
export const bin = (name: string): string => inRoot("node_modules", ".bin", name);

let made: string | undefined;

/** A folder that is gone when the benchmark ends. */
export function scratch(...path: readonly string[]): string {
  if (made === undefined) {
    const folder = makeScratchFolder("edgeway-bench-");
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    made = folder;
  }
  return join(made, ...path);
}
