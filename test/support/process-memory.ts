/** How much memory the programs of a process group hold, as Linux reports it. */

import { readdir, readFile } from "node:fs/promises";

/** @returns resident bytes of each process of that name, by its id; nothing but on Linux. */
export async function memoryOf(name: string, group: number): Promise<ReadonlyMap<number, number>> {
  const found = new Map<number, number>();
  for (const pid of await readdir("/proc").catch(() => [])) {
    if (!/^\d+$/.test(pid)) continue;
    const read = (file: string): Promise<string> =>
      readFile(`/proc/${pid}/${file}`, "utf8").catch(() => ""); // it has ended meanwhile
    // "pid (name) state parent group …": a name may have spaces and brackets of its own.
    const [, command, fields = ""] = /^\d+ \((.*)\) (.*)/.exec(await read("stat")) ?? [];
    if (command !== name || Number(fields.split(" ")[2]) !== group) continue;
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(await read("status"))?.[1] ?? "0";
    found.set(Number(pid), Number(kib) * 1024);
  }
  return found;
}
