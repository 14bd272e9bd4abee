/**
 * Keeps the processors awake, and at work. One that has nothing to do sleeps, and wakes up slowly, on a virtual
 * machine slowest of all; and two of them may share a core, its caches and its units, so that one is slower
 * while the other computes. On a busy machine both are always so. So that a quiet one measures the same,
 * something computes whenever what is measured does not: what programs do, since an empty loop is no neighbour.
 */

import { availableParallelism } from "node:os";

import { launch } from "./children.ts";
import { NODE } from "./project.ts";

const WORK = `
  const goods = Array.from({ length: 300 }, (_, n) => ({ name: "tea" + n, price: n / 7, tags: ["a", "b" + n] }));
  for (;;) JSON.parse(JSON.stringify(goods).replace(/tea/g, "cup")).sort((a, b) => b.price - a.price);
`;
const ON_ALL = `
  const { Worker } = require("node:worker_threads");
  for (let n = 0; n < ${availableParallelism()}; n++) new Worker(${JSON.stringify(WORK)}, { eval: true });
`;

/** Until the benchmark ends. @returns whether this system can do that. */
export function keepAwake(): Promise<boolean> {
  const child = launch("chrt", ["--idle", "0", NODE, "-e", ON_ALL]);
  return new Promise<boolean>((resolve) => {
    child.once("spawn", () => resolve(true));
    child.once("error", () => resolve(false)); // there is no such program
  });
}
