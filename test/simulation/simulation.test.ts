/**
 * The gateway on a simulated platform: what must not be lost, doubled or stalled is not, in schedules that are
 * the same in every run, and in some that are new.
 */

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { beforeAll, describe, test } from "vitest";

import { DELIBERATE } from "./explore/deliberate.ts";
import { digestOf } from "./explore/digest.ts";
import { foundPlans, nearTo } from "./explore/near.ts";
import { planOf } from "./explore/plan.ts";
import { play } from "./explore/play.ts";
import { bundleGateway, type Edit } from "./platform/bundle.ts";
import { type Program, programOf } from "./platform/isolate.ts";

const FIXED = 60;
const FRESH = 30;
const NEAR = 20;
const ROOT = join(import.meta.dirname, "../..");

const build = async (edits: readonly Edit[] = []): Promise<Program> =>
  programOf(await bundleGateway(edits));

/** @returns the first seed of so many with a finding, and what was found. */
async function firstFinding(
  program: Program,
  from: number,
  count: number,
): Promise<{ readonly seed: number; readonly findings: readonly string[] } | undefined> {
  for (let seed = from; seed < from + count; seed += 1) {
    const { findings } = await play(planOf(seed), program);
    if (findings.length > 0) return { seed, findings };
  }
  return undefined;
}

describe("the gateway", () => {
  let program: Program;
  beforeAll(async () => {
    program = await build();
  });

  test("has the same history in each world of a seed", async ({ expect }) => {
    const digest = await digestOf(program, 7, 2);
    expect(await digestOf(program, 7, 2)).toBe(digest);
    expect(await digestOf(program, 8, 2)).not.toBe(digest);
  });

  test(`loses, doubles and stalls nothing in ${FIXED} schedules`, async ({ expect }) => {
    expect(await firstFinding(program, 0, FIXED)).toBeUndefined();
  });

  test("does not do again what was found", async ({ expect }) => {
    for (const [file, plan] of foundPlans()) {
      expect((await play(plan, program)).findings, file).toEqual([]);
    }
  });

  test(`loses, doubles and stalls nothing in ${NEAR} schedules near to those`, async ({
    expect,
  }) => {
    const planned = nearTo([...foundPlans().values()]);
    for (let seed = 0; seed < NEAR; seed += 1) {
      expect((await play(planned(seed), program)).findings, `${seed}`).toEqual([]);
    }
  });

  test(`loses, doubles and stalls nothing in ${FRESH} schedules that are new`, async ({
    expect,
  }) => {
    const from = Math.floor(Math.random() * 2 ** 31);
    // Played once more by `npm run simulate -- --seed SEED`.
    expect(await firstFinding(program, from, FRESH)).toBeUndefined();
  });
});

describe("a fault that is put in on purpose", () => {
  const quick = DELIBERATE.filter(({ isQuick }) => isQuick === true);

  test("has its place in the code, each of them", async ({ expect }) => {
    for (const { name, edits } of DELIBERATE) {
      for (const { file, find } of edits) {
        const text = await readFile(join(ROOT, file), "utf8");
        expect(text.split(find).length - 1, `${name}: ${find}`).toBe(1);
      }
    }
  });

  test.for(quick)("$name: is found", async ({ edits }, { expect }) => {
    const program = await build(edits);
    expect(await firstFinding(program, 0, 400)).toBeDefined();
  });
});
