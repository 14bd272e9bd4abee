/** Which files ran, and how much there is to read in them. Pure. */

import type { SourceFunction } from "./instrument.ts";

/** The functions that ran, by their file. */
export type FilesThatRan = ReadonlyMap<string, readonly string[]>;

/** The parts that every way needs, and that nobody reads to follow it. */
const GENERAL =
  /^src\/(?:lib|protocol|policy|observability)\/|^durable-objects\/.*-(?:stub|in|of)\.ts$/;

export function filesThatRan(functions: readonly SourceFunction[]): FilesThatRan {
  const files = new Map<string, Set<string>>();
  for (const { path, name } of functions) {
    const names = files.get(path) ?? new Set();
    files.set(path, names.add(name === "" ? "(anonymous)" : name));
  }
  const sorted = [...files].toSorted(([a], [b]) => a.localeCompare(b));
  return new Map(sorted.map(([path, names]) => [path, [...names]]));
}

export interface Summary {
  readonly files: number;
  readonly folders: number;
  /** Without the general parts. */
  readonly filesToRead: number;
}

export function summaryOf(files: FilesThatRan): Summary {
  const paths = [...files.keys()];
  return {
    files: paths.length,
    folders: new Set(paths.map((path) => path.slice(0, path.lastIndexOf("/")))).size,
    filesToRead: paths.filter((path) => !GENERAL.test(path)).length,
  };
}
