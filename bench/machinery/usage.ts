/** What Linux says that a process uses. Elsewhere there is no such row, and that is an error. */

import { readdirSync, readFileSync } from "node:fs";

import { memoryOf } from "../../test/support/process-memory.ts";

/** The memory that a program holds, in MiB: of all processes of that name in its group. */
export async function residentMib(name: string, group: number): Promise<number> {
  const found = await memoryOf(name, group);
  if (found.size === 0) throw new Error(`Nobody knows the memory of ${name}, process ${group}`);
  return [...found.values()].reduce((sum, each) => sum + each, 0) / 2 ** 20;
}

/** All processes of these groups, as they are now. @param groups their leaders. */
export function processesOf(groups: readonly number[]): readonly number[] {
  const found = listOf("/proc").filter((pid) => {
    // "pid (name) state parent group …": a name may have spaces and brackets of its own.
    const [, fields = ""] = /^\d+ \(.*\) (.*)/s.exec(readOf(`/proc/${pid}/stat`)) ?? [];
    return groups.includes(Number(fields.split(" ")[2]));
  });
  if (found.length < groups.length) throw new Error(`Processes ${groups.join(", ")} are not there`);
  return found.map(Number);
}

/** What all threads of these processes have computed since they began, in ms. */
export function cpuMs(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0);
}

function cpuMsOf(pid: number): number {
  const threads = listOf(`/proc/${pid}/task`);
  const ns = threads.map((thread) => {
    // "time on the processor, time waiting for one, times it got one"; a thread may end meanwhile.
    const [onCpu = "0"] = readOf(`/proc/${pid}/task/${thread}/schedstat`).split(" ");
    return Number(onCpu);
  });
  return ns.reduce((sum, each) => sum + each, 0) / 1e6;
}

function readOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function listOf(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch (cause) {
    throw new Error(`This needs ${path}, which only Linux has`, { cause });
  }
}
