/** What `npm run bench` takes, and what it refuses before anything is started. */

import { describe, test } from "vitest";

import { isAsked, parseArguments } from "../../../bench/arguments.ts";

const ROWS = ["call-hosted", "call-proxied", "bill"];
const parse = (...given: string[]): unknown => parseArguments(given, ROWS);

describe("parseArguments()", () => {
  test("without any: every row, five rounds in each pass, a table", ({ expect }) => {
    expect(parse()).toMatchObject({
      ok: true,
      arguments: {
        ...{ only: [], output: "table", write: false },
        ...{ rounds: 5, seconds: 0.4, profile: undefined },
      },
    });
  });

  test("takes all of them, in both spellings", ({ expect }) => {
    const wanted = { only: ["call-h", "bill"], output: "json", rounds: 3, seconds: 0.2 };
    const spelt = ["--only", "call-h,bill", "--json", "--rounds", "3", "--seconds", "0.2"];
    expect(parse(...spelt)).toMatchObject({ ok: true, arguments: wanted });
    const joined = ["--only=call-h", "--only=bill", "--json", "--rounds=3", "--seconds=0.2"];
    expect(parse(...joined)).toMatchObject({ ok: true, arguments: wanted });
    expect(parse("--markdown")).toMatchObject({ arguments: { output: "markdown" } });
    expect(parse("--compare", "a.json,b.json")).toMatchObject({
      arguments: { compare: ["a.json", "b.json"] },
    });
    expect(parse("--write")).toMatchObject({ arguments: { output: "table", write: true } });
    expect(parse("--against", "../before")).toMatchObject({ arguments: { against: "../before" } });
    expect(parse("--profile", "bill")).toMatchObject({ arguments: { profile: "bill" } });
  });

  test.for([
    [["--only", "nothing"], 'There is no row "nothing"; the rows are: call-hosted, call-proxied'],
    [["--only", "bill,"], 'There is no row ""'],
    [["--profile", "call"], 'There is no row "call"'],
    [["--rounds", "0"], '--rounds is a whole number from 1 to 101, not "0"'],
    [["--rounds", "1.5"], "--rounds is a whole number"],
    [["--rounds", "many"], "--rounds is a whole number"],
    [["--seconds", "0"], "--seconds is above 0"],
    [["--seconds", "61"], "--seconds is above 0 and at most 60"],
    [["--compare", "a.json"], '--compare takes two files with a comma between them, not "a.json"'],
    [["--compare", "a,b,c"], "--compare takes two files"],
    [["--compare", ",b"], "--compare takes two files"],
    [["--only"], "--only needs a value"],
    [["--fast", "1"], "There is no option --fast"],
  ] as const)("refuses %j", ([given, problem], { expect }) => {
    const parsed = parseArguments(given, ROWS);
    expect(parsed.ok ? "" : parsed.problem).toContain(problem);
    expect(parsed.ok ? "" : parsed.problem).toContain("npm run bench -- ");
  });
});

test("isAsked() takes names, beginnings, and everything where nothing was said", ({ expect }) => {
  expect(ROWS.filter((row) => isAsked({ only: ["call-h", "bill"] }, row))).toEqual([
    ...["call-hosted", "bill"],
  ]);
  expect(ROWS.filter((row) => isAsked({ only: [] }, row))).toEqual(ROWS);
});
