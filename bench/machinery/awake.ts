/**
 * Keeps the processors awake. One that has nothing to do sleeps, and wakes up slowly, on a virtual machine
 * slowest of all; on a busy machine none ever sleeps. So that both measure the same, something
 * computes whenever what is measured does not.
 */

import { availableParallelism } from "node:os";

import { launch } from "./children.ts";
import { NODE } from "./project.ts";

const FOR_EVER = `
  const { Worker } = require("node:worker_threads");
  for (let n = 0; n < ${availableParallelism()}; n++) new Worker("for(;;);", { eval: true });
`;

/** Until the benchmark ends. @returns whether this system can do that. */
export function keepAwake(): Promise<boolean> {
  const child = launch("chrt", ["--idle", "0", NODE, "-e", FOR_EVER]);
  return new Promise<boolean>((resolve) => {
    child.once("spawn", () => resolve(true));
    child.once("error", () => resolve(false)); // there is no such program
  });
}
