/** What evaluating the bundle takes, module by module: the part of the start that the code can change. */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const RUNS = 12;
const SHOWN = 10;
const EVALUATE = fileURLToPath(new URL("evaluate-bundle.mjs", import.meta.url));

/**
 * Each run is a process of its own, since nothing is evaluated twice. The least time of a module is the
 * one that nothing interrupted.
 *
 * @param {string} bundle not minified
 * @returns the largest, in milliseconds, and all of them together.
 */
export function measureEvaluation(bundle) {
  /** @type {Map<string, number>} */
  const least = new Map();
  for (let run = 0; run < RUNS; run++) {
    const { stdout, stderr, status } = spawnSync(process.execPath, [EVALUATE, bundle], {
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`The bundle was not evaluated:\n${stderr}`);
    /** @type {{ modules: Record<string, number> }} */
    const { modules } = JSON.parse(stdout);
    for (const [name, ms] of Object.entries(modules)) {
      least.set(name, Math.min(ms, least.get(name) ?? Infinity));
    }
  }
  const sorted = [...least].toSorted(([, a], [, b]) => b - a);
  return {
    allMs: sorted.reduce((sum, [, ms]) => sum + ms, 0),
    count: sorted.length,
    largest: sorted.slice(0, SHOWN),
  };
}
