/** What is deployed, and what it takes to start it. */

import { type Participant, takeTurns } from "../turns.ts";
import type { Bundle } from "../machinery/bundle.ts";
import { naming } from "../machinery/field.ts";
import { bundles } from "../machinery/servers.ts";
import { cpuMs } from "../machinery/usage.ts";
import { startWorkerd } from "../machinery/workerd.ts";
import { EMPTY, GZIP, OURS, type Result, START } from "../row.ts";
import type { Plan } from "./plan.ts";

const WORKERS: readonly { readonly name: string; readonly bundle: () => Bundle }[] = [
  { name: OURS, bundle: bundles.gateway },
  { name: "createMcpHandler", bundle: bundles.stateless },
  { name: "McpAgent", bundle: bundles.mcpAgent },
];
const NOTHING = { name: EMPTY, bundle: bundles.empty };

export async function measureBundles({ say }: Plan): Promise<readonly Result[]> {
  say("bundle");
  const measured = WORKERS.map(({ name, bundle }) => {
    const { bytes, gzipBytes } = bundle();
    return { name, samples: [{ raw: bytes / 1024, gzip: gzipBytes / 1024 }] };
  });
  const metrics = [{ key: "raw", unit: "KiB", digits: 0 }, GZIP];
  return [{ row: "bundle", variant: "minified", metrics, measured, notes: [] }];
}

export async function measureStarts({ say, ...pace }: Plan): Promise<readonly Result[]> {
  say("start-up");
  const participants: readonly Participant[] = [...WORKERS, NOTHING].map(({ name, bundle }) => ({
    name,
    async sample() {
      const vars = { AUTH_MODE: "none" };
      const workerd = await startWorkerd([{ bundle: bundle(), vars }]);
      try {
        return { cpu: cpuMs([workerd.pid]), wall: workerd.startMs };
      } finally {
        await workerd.stop();
      }
    },
  }));
  // The files are in memory from now on.
  for (const { name, sample } of participants) await naming(name, sample);
  const measured = await takeTurns(participants, pace);
  const metrics = [START, { key: "wall", unit: "ms", digits: 0 }];
  return [{ row: "start-up", variant: "first answer", metrics, measured, notes: [] }];
}
