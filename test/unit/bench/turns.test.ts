/** The rounds of the benchmark: who is measured when, and what is no measurement. */

import { describe, test } from "vitest";

import { type Pace, type Participant, takeTurns } from "../../../bench/turns.ts";

function participants(order: string[], values: Readonly<Record<string, number>>): Participant[] {
  return Object.entries(values).map(([name, value]) => ({
    name,
    async sample() {
      order.push(name);
      return { value };
    },
  }));
}

const rounds = (count: number): Pace => ({ rounds: count, patienceSeconds: 60 });

describe("takeTurns()", () => {
  test("measures everybody in each round, and another one first each time", async ({ expect }) => {
    const order: string[] = [];
    const measured = await takeTurns(participants(order, { a: 1, b: 2, c: 3 }), rounds(4));
    expect(order.join("")).toBe("abcbcacababc");
    expect(measured.map(({ name, samples }) => [name, samples.length])).toEqual([
      ...[
        ["a", 4],
        ["b", 4],
      ],
      ["c", 4],
    ]);
    expect(measured.at(1)?.samples.at(0)).toEqual({ value: 2 });
  });

  test.for([
    { name: "begins no round when its patience is over", patienceSeconds: 7, taken: 7 },
    { name: "but measures often enough", patienceSeconds: 0, taken: 5 },
    { name: "and no more than it was asked to", patienceSeconds: 60, taken: 9 },
  ])("$name", async ({ patienceSeconds, taken }, { expect }) => {
    let ms = 1000;
    const slow: Participant = {
      name: "a",
      async sample() {
        ms += 1000;
        return { value: 1 };
      },
    };
    const [measured] = await takeTurns([slow], { rounds: 9, patienceSeconds }, () => ms);
    expect(measured?.samples).toHaveLength(taken);
  });

  test("names who could not be measured, and says why", async ({ expect }) => {
    const cause = new Error("It was refused with 503");
    const broken: Participant = { name: "mcp-proxy", sample: () => Promise.reject(cause) };
    await expect(takeTurns([...participants([], { a: 1 }), broken], rounds(2))).rejects.toThrow(
      "mcp-proxy could not be measured: It was refused with 503",
    );
  });

  test.for([Number.NaN, Infinity])("takes no %d for a number", async (value, { expect }) => {
    await expect(takeTurns(participants([], { a: value }), rounds(1))).rejects.toThrow(
      `a could not be measured: value is ${value}`,
    );
  });
});
