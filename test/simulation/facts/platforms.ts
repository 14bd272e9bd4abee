/** The two platforms that are asked for facts: workerd, and its simulation. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { build } from "esbuild";

import { freePort } from "../../support/free-port.ts";
import { ROOT, startProgram } from "../../support/process.ts";
import { workerdConfig } from "../../support/workerd-config.ts";
import { programOf } from "../platform/isolate.ts";
import { Random } from "../platform/random.ts";
import type { ObjectId } from "../platform/objects.ts";
import { uniformly } from "../platform/scheduler.ts";
import { World } from "../platform/world.ts";

/** A fact, and the class of objects that it is asked of, by its binding. */
export type Fact = readonly [room: string, fact: string];
export type Ask = (fact: Fact) => Promise<unknown>;

const HERE = import.meta.dirname;
const OBJECTS = {
  CALLS: "Calls",
  SLOW: "Slow",
  STORING: "Storing",
  ALARMS: "Alarms",
  SOCKETS: "Sockets",
  BODIES: "Bodies",
  TIMERS: "Timers",
};

async function bundle(options: object): Promise<string> {
  const entryPoints = [join(HERE, "facts.mjs")];
  const built = await build({ entryPoints, bundle: true, write: false, ...options });
  return built.outputFiles[0]?.text ?? "";
}

export interface Real {
  readonly facts: () => Promise<readonly Fact[]>;
  readonly ask: Ask;
  readonly stop: () => Promise<void>;
}

export async function workerd(): Promise<Real> {
  const folder = mkdtempSync(join(tmpdir(), "edgeway-facts-"));
  const path = join(folder, "facts.js");
  writeFileSync(
    path,
    await bundle({ format: "esm", target: "esnext", external: ["cloudflare:*", "workerd:*"] }),
  );
  const config = join(folder, "workerd.capnp");
  const port = await freePort();
  const worker = {
    ...{ name: "facts", path, data: [], compatibilityDate: "2026-10-23" },
    // The gateway's own, and what lets a test have an object evicted.
    compatibilityFlags: ["enable_request_signal", "unsafe_module"],
    objects: Object.entries(OBJECTS).map(([binding, className]) => ({ binding, className })),
  };
  const configured = workerdConfig(
    [{ bundle: worker, services: { SELF: "facts" } }],
    [port],
    folder,
  );
  writeFileSync(config, configured);
  const url = `http://localhost:${port}/`;
  const program = await startProgram({
    command: `${ROOT}node_modules/.bin/workerd`,
    args: ["serve", "--experimental", config],
    readyUrl: url,
  });
  const read = async (path: string): Promise<unknown> => {
    const response = await fetch(url + path);
    if (response.ok) return response.json();
    throw new Error(`${path}: ${await response.text()}\n${program.output()}`);
  };
  return {
    facts: async () => (await read("")) as readonly Fact[],
    ask: ([room, fact]) => read(`${room}/${encodeURIComponent(fact)}`),
    stop: async () => {
      await program.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @returns asks a fresh world each time, in an order of its own. */
export async function simulation(): Promise<(seed: number) => Ask> {
  const machine = { "workerd:unsafe": join(HERE, "machine.mjs") };
  const text = await bundle({ format: "cjs", external: ["cloudflare:*"], alias: machine });
  const program = programOf(text);
  return (seed) =>
    async ([room, fact]) => {
      const world: World = new World({
        ...{ seed, program, objects: OBJECTS },
        vars: {
          MACHINE: { evict: ({ id }: { id: ObjectId }) => sleep(world, id) },
          SELF: {
            fetch: (url: string, init?: RequestInit) => world.request(url, init),
          },
        },
        choose: uniformly(new Random(seed)),
      });
      const found: { value?: unknown; error?: Error }[] = [];
      world.outsider("asker").run(() => {
        world
          .request(`http://localhost/${room}/${encodeURIComponent(fact)}`)
          .then((response) => response.json())
          .then(
            (value: unknown) => found.push({ value }),
            (error: Error) => found.push({ error }),
          );
      });
      await world.run({ untilMs: 60_000, isOver: () => found.length > 0 });
      const [{ value, error } = { error: new Error("It never ended") }] = found;
      if (error !== undefined)
        throw new Error(`${fact}: ${error.message}\n${world.log.join("\n")}`);
      return value;
    };
}

/** Lets an object sleep as soon as it has nothing to do. */
function sleep(world: World, id: ObjectId): Promise<void> {
  const slot = [...world.slots()].find((each) => each.id.equals(id));
  return new Promise((resolve) => {
    const look = (): void => {
      if (slot?.life?.isIdle === false) world.scheduler.post("sleep", "it is not idle", look, 1);
      else {
        slot?.sleep();
        resolve();
      }
    };
    look();
  });
}
