/**
 * Load on one server, and what its processes compute for it. How many requests a second a server
 * answers depends on what else the machine does; how much it computes for each does so less, not never:
 * who is interrupted finds its caches cold.
 */

import { type Load } from "./load.ts";
import type { Server } from "./servers.ts";
import { cpuMs, processesOf } from "./usage.ts";

/**
 * The same load with `cpuSeconds` and `cpuRequests` in its samples: requests for each second of processor time of
 * all processes that serve them, the upstream's and the children's among them.
 *
 * @param load that has run: the processes that it takes are there.
 */
export function metered(load: Load, { groups }: Pick<Server, "groups">): Load {
  const serving = processesOf(groups);
  return {
    close: () => load.close(),
    async run(seconds) {
      const before = cpuMs(serving);
      const sample = await load.run(seconds);
      const cpuSeconds = (cpuMs(serving) - before) / 1000;
      return { ...sample, cpuSeconds, cpuRequests: (sample["answered"] ?? 0) / cpuSeconds };
    },
  };
}
