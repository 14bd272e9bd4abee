/** Who goes first when several want a processor. Linux asks for it in two places. */

import { readFileSync, writeFileSync } from "node:fs";
import { constants, setPriority } from "node:os";

const { PRIORITY_HIGHEST, PRIORITY_LOW } = constants.priority;

/**
 * What is measured, and what measures it, goes before whatever else this machine does.
 *
 * @param pid the leader of a session. @returns whether that is allowed: it takes an administrator.
 */
export function putFirst(pid: number): boolean {
  return put(pid, PRIORITY_HIGHEST);
}

/** It runs when nobody else wants to, or next to never. @param pid the leader of a session. */
export function putLast(pid: number): boolean {
  return put(pid, PRIORITY_LOW);
}

/**
 * As `putFirst`, for this process. Its session, a terminal's perhaps, goes on when the benchmark is over, and
 * has then what it had before.
 */
export function goFirst(): boolean {
  const before = /-?\d+$/.exec(read(sessionOf(process.pid)).trim())?.[0];
  if (before !== undefined) {
    process.on("exit", () => {
      try {
        writeFileSync(sessionOf(process.pid), before);
      } catch {
        // nothing was changed
      }
    });
  }
  return putFirst(process.pid);
}

function put(pid: number, priority: number): boolean {
  try {
    setPriority(pid, priority);
    // A session has a share of its own, within which its processes have theirs (sched(7), autogroup).
    const session = sessionOf(pid);
    if (read(session) !== "") writeFileSync(session, String(priority));
    return true;
  } catch {
    return false;
  }
}

function sessionOf(pid: number): string {
  return `/proc/${pid}/autogroup`;
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // this kernel knows no such thing
  }
}
