/** Workers on bare workerd, which end with the benchmark. */

import { mkdirSync, writeFileSync } from "node:fs";

import { freePort } from "../../test/support/free-port.ts";
import { type WorkerOptions, workerdConfig } from "../../test/support/workerd-config.ts";
import { type Program, startProgram } from "./children.ts";
import { bin, scratch } from "./project.ts";

export interface Workerd extends Program {
  /** Of each Worker, in their order. */
  readonly origins: readonly string[];
  /** From the start of the process to its first answer. */
  readonly startMs: number;
  /** Where a debugger may attach, if `letDebuggersAttach` was called before. */
  readonly inspector: string;
  /** To start it once more, on what it has stored. */
  readonly place: Place;
}

/** What outlives a process. */
export interface Place {
  /** Of each Worker, and of the inspector. */
  readonly ports: readonly number[];
  readonly folder: string;
}

let hasInspector = false;

/**
 * From now on, a debugger may attach to what is started. Nobody may otherwise, as on the platform: workerd
 * keeps every line of the log for a debugger that may come, which costs far more than to write it.
 */
export function letDebuggersAttach(): void {
  hasInspector = true;
}

/**
 * @param workers the first one tells when all of them are ready, at `/health`.
 * @param place where it ran before; a new one, unless given.
 */
export async function startWorkerd(
  workers: readonly WorkerOptions[],
  place?: Place,
): Promise<Workerd> {
  const { ports, folder } = place ?? (await newPlace(workers.length));
  const inspector = `127.0.0.1:${ports.at(-1)}`;
  const config = `${folder}/config.capnp`;
  writeFileSync(config, workerdConfig(workers, ports, folder));
  const origins = workers.map((_, index) => `http://localhost:${ports[index]}`);
  const startedAt = performance.now();
  const debugging = hasInspector ? [`--inspector-addr=${inspector}`] : [];
  const args = ["serve", "--experimental", ...debugging, config];
  const program = await startProgram(bin("workerd"), args, `${origins[0]}/health`);
  return {
    ...program,
    origins,
    startMs: performance.now() - startedAt,
    inspector,
    place: { ports, folder },
  };
}

async function newPlace(workers: number): Promise<Place> {
  const ports = await Promise.all(Array.from({ length: workers + 1 }, () => freePort()));
  const folder = scratch(`workerd-${ports[0]}`); // no port is told twice
  mkdirSync(folder);
  return { ports, folder };
}
