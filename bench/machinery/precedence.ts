/**
 * Who goes first when several want a processor: what is measured and what measures it, before all other
 * programs. With a mere preference (nice(1)), who wakes up waits until the other one has had its turn, and
 * who stands behind another process, as a gateway behind a load and before an upstream, waits more often.
 * The kernel keeps a twentieth of the time for all others.
 */

import { spawnSync } from "node:child_process";

/**
 * For this process, and all that it starts from now on, unless they decline: they inherit it (sched(7), `SCHED_RR`).
 *
 * @returns whether that is possible: it takes an administrator, and Linux.
 */
export function goFirst(): boolean {
  const args = ["--rr", "--all-tasks", "--pid", "1", String(process.pid)];
  return spawnSync("chrt", args).status === 0;
}
