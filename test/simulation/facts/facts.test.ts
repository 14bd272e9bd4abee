/** The facts of the platform that the gateway relies on: the same in workerd and on the simulated platform. */

import { readFileSync } from "node:fs";

import { afterAll, beforeAll, describe, test } from "vitest";

import { ROOT } from "../../support/process.ts";
import { type Ask, type Fact, type Real, simulation, workerd } from "./platforms.ts";

const DOCUMENT = readFileSync(`${ROOT}docs/design/simulation.md`, "utf8");
const SEEDS = [1, 2, 3, 4, 5];

describe("the platform", () => {
  let real: Real;
  let simulated: (seed: number) => Ask;
  beforeAll(async () => {
    [real, simulated] = await Promise.all([workerd(), simulation()]);
  });
  afterAll(() => real.stop());

  test("does as its simulation does, in every order", async ({ expect }) => {
    const facts = await real.facts();
    expect(facts.length).toBeGreaterThan(70);
    for (const [, fact] of facts) expect(DOCUMENT).toContain(fact);
    // workerd waits for its own clock, so it is asked for all of them at once.
    const asked = async (fact: Fact) => [fact.join(": "), await real.ask(fact)] as const;
    const wanted = await Promise.all(facts.map(asked));
    for (const seed of SEEDS) {
      const ask = simulated(seed);
      const seen = [];
      for (const fact of facts) seen.push([fact.join(": "), await ask(fact)] as const);
      expect(Object.fromEntries(seen), `${seed}`).toEqual(Object.fromEntries(wanted));
    }
  });
});
