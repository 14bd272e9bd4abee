/** The facts of the platform that the gateway relies on: the same in workerd and on the simulated platform. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { build } from "esbuild";
import { afterAll, beforeAll, describe, test } from "vitest";

import { freePort } from "../../support/free-port.ts";
import { type Program as Process, ROOT, startProgram } from "../../support/process.ts";
import { workerdConfig } from "../../support/workerd-config.ts";
import { programOf } from "../platform/isolate.ts";
import { Random } from "../platform/random.ts";
import { uniformly } from "../platform/scheduler.ts";
import { World } from "../platform/world.ts";

const PATH = join(import.meta.dirname, "facts.mjs");
const SEEDS = [1, 2, 3, 4, 5];

type Ask = (fact: string) => Promise<unknown>;

/** Asks a fresh world, with an order of its own. */
async function simulated(seed: number): Promise<Ask> {
  const bundled = await build({
    ...{ entryPoints: [PATH], bundle: true, write: false, format: "cjs" },
    external: ["cloudflare:*"],
  });
  const program = programOf(bundled.outputFiles[0]?.text ?? "");
  return async (fact) => {
    const world = new World({
      ...{ seed, program, vars: {}, objects: { FACTS: "Facts" } },
      choose: uniformly(new Random(seed)),
    });
    const found: unknown[] = [];
    world.outsider("asker").run(() => {
      const url = `http://localhost/${encodeURIComponent(fact)}`;
      void world
        .request(url)
        .then(readJson)
        .then((value) => found.push(value));
    });
    await world.run({ untilMs: 60_000, isOver: () => found.length > 0 });
    return found[0];
  };
}

function readJson(response: Response): Promise<unknown> {
  return response.json();
}

describe("the platform", () => {
  const folder = mkdtempSync(join(tmpdir(), "edgeway-facts-"));
  const port = freePort();
  let workerd: Process;
  beforeAll(async () => {
    const bundle = {
      ...{ name: "facts", path: PATH, data: [], compatibilityFlags: [] },
      compatibilityDate: "2026-10-23",
      objects: [{ binding: "FACTS", className: "Facts" }],
    };
    const config = join(folder, "workerd.capnp");
    writeFileSync(config, workerdConfig([{ bundle }], [await port], folder));
    workerd = await startProgram({
      command: `${ROOT}node_modules/.bin/workerd`,
      args: ["serve", "--experimental", config],
      readyUrl: `http://localhost:${await port}/`,
    });
  });
  afterAll(async () => {
    await workerd.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const real: Ask = async (fact) =>
    (await fetch(`http://localhost:${await port}/${encodeURIComponent(fact)}`)).json();

  test("does as its simulation does, in every order", async ({ expect }) => {
    const facts = (await real("")) as string[];
    expect(facts.length).toBeGreaterThan(10);
    const all = async (ask: Ask): Promise<unknown> => {
      const seen = [];
      for (const fact of facts) seen.push([fact, await ask(fact)] as const);
      return Object.fromEntries(seen);
    };
    const wanted = await all(real);
    for (const seed of SEEDS) expect(await all(await simulated(seed)), `${seed}`).toEqual(wanted);
  });
});
