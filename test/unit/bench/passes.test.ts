/** The rows of the benchmark within its time, and those that fail: never a number that was not taken. */

import { describe, test } from "vitest";

import { measureInPasses, type Passes } from "../../../bench/passes.ts";
import type { Row } from "../../../bench/rows/plan.ts";
import { BILL, CALL } from "./fixture.ts";

/** Each measurement takes so many seconds. */
async function measure(
  schedule: readonly Row["name"][],
  seconds: number,
  failing?: { readonly name: Row["name"]; readonly pass: number },
): Promise<Passes & { readonly said: readonly string[] }> {
  let now = 0;
  const said: string[] = [];
  const taken = new Map<string, number>();
  const rows = schedule.map((name): Row => {
    const measureOnce = (): readonly (typeof CALL)[] => {
      now += seconds;
      const pass = (taken.get(name) ?? 0) + 1;
      taken.set(name, pass);
      if (failing?.name === name && failing.pass === pass) {
        throw new Error("McpAgent could not be measured: it fell silent\nand what it logged");
      }
      return [{ ...(name === "bill" ? BILL : CALL), row: name }];
    };
    return { name, measure: async () => measureOnce() };
  });
  const plan = {
    ...{ rounds: 5, seconds: 1, patienceSeconds: 1 },
    say: (it: string) => said.push(it),
  };
  return { ...(await measureInPasses(rows, plan, () => now)), said };
}

const roundsOf = ({ results }: Passes): unknown =>
  results.map(({ row, measured }) => [row, measured[0]?.samples.length]);

describe("measureInPasses()", () => {
  test("has the rounds of all passes of a row", async ({ expect }) => {
    const passes = await measure(["call-hosted-modern", "bill", "call-hosted-modern"], 10);
    expect(roundsOf(passes)).toEqual([
      ["call-hosted-modern", 6],
      ["bill", 1],
    ]);
    expect(passes).toMatchObject({ failures: [], notAgain: [] });
  });

  test("measures each row once, however long it takes, and again only in time", async ({
    expect,
  }) => {
    const names = ["call-hosted-modern", "call-hosted-legacy"] as const;
    const passes = await measure([...names, ...names.toReversed()], 190);
    expect(roundsOf(passes)).toEqual([
      ["call-hosted-modern", 3],
      ["call-hosted-legacy", 6],
    ]);
    expect(passes.notAgain).toEqual(["call-hosted-modern"]);
    const all = [...names, "call-proxied-modern"] as const;
    const slow = await measure([...all, ...all], 400);
    expect(roundsOf(slow)).toEqual(all.map((name) => [name, 3]));
    expect(slow.notAgain).toEqual(all);
  });

  test.for([1, 2])("has nothing of a row that failed in pass %i", async (pass, { expect }) => {
    const schedule = ["call-hosted-modern", "bill", "call-hosted-modern"] as const;
    const passes = await measure(schedule, 10, { name: "call-hosted-modern", pass });
    expect(roundsOf(passes)).toEqual([["bill", 1]]);
    expect(passes.failures).toEqual([
      "call-hosted-modern: McpAgent could not be measured: it fell silent",
    ]);
    expect(passes.said).toEqual([
      "FAILED  call-hosted-modern: McpAgent could not be measured: it fell silent\nand what it logged",
    ]);
  });
});
