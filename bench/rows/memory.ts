/**
 * The memory of workerd with so many sessions that each have a stream open and nothing to say, once
 * their objects may sleep. One run: it takes minutes of waiting, and memory has few moods.
 */

import { type Measured } from "../turns.ts";
import { naming, type Running, withServers } from "../machinery/field.ts";
import { behind, startMcpAgent, startNodeServer } from "../machinery/servers.ts";
import { resume } from "../machinery/streams.ts";
import { residentMib } from "../machinery/usage.ts";
import { OURS, type Result } from "../row.ts";
import type { Plan } from "./plan.ts";
import { openAndCall } from "./set-up.ts";

const NOTES = ["one run"];
const SIZES = [0, 100, 1000];
const AT_ONCE = 10;
/** A session is quiet after 5 s, and the platform lets an object go after 10 s more. */
const ASLEEP_MS = 17_000;

export function measureMemory({ say }: Plan): Promise<readonly Result[]> {
  const contenders = [
    { name: OURS, start: () => behind(startNodeServer) },
    { name: "McpAgent", start: () => startMcpAgent() },
  ];
  const hangUp = new AbortController();
  return withServers(contenders, async (running) => {
    const results: Result[] = [];
    let open = 0;
    for (const { name, server } of running) await naming(name, () => openAndCall(server.url));
    for (const size of SIZES) {
      say(`memory, ${size} streams`);
      for (const { name, server } of running) {
        await naming(name, () => openStreams(server.url, size - open, hangUp.signal));
      }
      open = size;
      await new Promise((resolve) => setTimeout(resolve, size === 0 ? 0 : ASLEEP_MS));
      const measured: Measured[] = [];
      for (const each of running) measured.push(await memoryOf(each));
      const metrics = [{ key: "mib", unit: "MiB", digits: 0 }];
      results.push({ row: "memory", variant: `${size} streams`, metrics, measured, notes: NOTES });
    }
    return results;
  }).finally(() => hangUp.abort());
}

async function memoryOf({ name, server: { pid } }: Running): Promise<Measured> {
  return { name, samples: [{ mib: await naming(name, () => residentMib("workerd", pid)) }] };
}

async function openStreams(url: string, count: number, signal: AbortSignal): Promise<void> {
  for (let opened = 0; opened < count; opened += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - opened) }, async () => {
      const stream = await resume(url, await openAndCall(url), undefined, signal);
      // It is read, as clients do, until somebody hangs up.
      stream.body?.pipeTo(new WritableStream()).catch(() => undefined);
    });
    await Promise.all(some);
  }
}
