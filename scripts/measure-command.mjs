/**
 * What the command weighs, how long it takes to start, and the memory that it waits in, beside an empty program of
 * Node.
 */

import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { build } from "../cli/build.mjs";

const RUNS = 61;
/** By then it has read its arguments, and waits for its host. */
const SETTLED_MS = 500;

/**
 * @param {string} folder for files of its own.
 * @param {(pid: number) => number} memoryMib
 */
export async function measureCommand(folder, memoryMib) {
  const command = join(folder, "edgeway.mjs");
  const empty = join(folder, "empty.mjs");
  const waiting = join(folder, "waiting.mjs");
  const { bytes, parts } = await build(command);
  writeFileSync(empty, "");
  writeFileSync(waiting, "process.stdin.resume();");
  /** @type {[number[], number[]]} */
  const times = [[], []];
  // In turns, so that the machine's moods hit both alike.
  for (let run = 0; run < RUNS; run++) {
    times[0].push(timeOf([command, "--version"]));
    times[1].push(timeOf([empty]));
  }
  const memory = [await memoryOf([command, "connect", "http://localhost:9/mcp"], memoryMib)];
  memory.push(await memoryOf([waiting], memoryMib));
  const [mib, emptyMib] = memory;
  return { bytes, parts, ms: median(times[0]), emptyMs: median(times[1]), mib, emptyMib };
}

function timeOf(/** @type {string[]} */ args) {
  const startedAt = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: "ignore" });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}`);
  return performance.now() - startedAt;
}

/**
 * @param {string[]} args
 * @param {(pid: number) => number} memoryMib
 */
async function memoryOf(args, memoryMib) {
  const child = spawn(process.execPath, args, { stdio: ["pipe", "ignore", "ignore"] });
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
  const mib = memoryMib(child.pid ?? 0);
  child.kill();
  return mib;
}

function median(/** @type {number[]} */ list) {
  return list.toSorted((a, b) => a - b)[list.length >> 1] ?? 0;
}
