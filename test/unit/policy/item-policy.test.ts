/** What may be seen and used of a server. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { Glob } from "../../../src/policy/glob.ts";
import {
  hidingRule,
  isAllowed,
  isAllowedUnlisted,
  type ItemPolicy,
  OPEN_POLICY,
} from "../../../src/policy/item-policy.ts";

function policy(allow: readonly string[] | undefined, deny: readonly string[] = []): ItemPolicy {
  return {
    allow: allow?.map((pattern) => new Glob(pattern)),
    deny: deny.map((pattern) => new Glob(pattern)),
    rename: new Map(),
  };
}

describe("with no lists", () => {
  test("everything is allowed, listed or not", ({ expect }) => {
    for (const name of ["", "a", "*", "😀", "\ud800"]) {
      expect(isAllowed(OPEN_POLICY, name)).toBe(true);
      expect(isAllowedUnlisted(OPEN_POLICY, name)).toBe(true);
    }
  });
});

/** Of the names `get_a`, `get_b`, `put_a`: which are allowed, and which also when not listed. */
const NAMES = ["get_a", "get_b", "put_a"];

describe("allowed are", () => {
  test.for([
    { allow: [], deny: [], listed: [], unlisted: [] },
    { allow: ["*"], deny: [], listed: NAMES, unlisted: NAMES },
    { allow: ["nothing", "**"], deny: [], listed: NAMES, unlisted: NAMES },
    { allow: ["get_*"], deny: [], listed: ["get_a", "get_b"], unlisted: [] },
    { allow: ["get_a"], deny: [], listed: ["get_a"], unlisted: ["get_a"] },
    { allow: ["get_*", "put_a"], deny: [], listed: NAMES, unlisted: ["put_a"] },
    { allow: ["get_*", "get_b"], deny: [], listed: ["get_a", "get_b"], unlisted: ["get_b"] },
    { allow: ["Get_a", "get_", "a"], deny: [], listed: [], unlisted: [] },
    { allow: undefined, deny: ["put_*"], listed: ["get_a", "get_b"], unlisted: [] },
    { allow: undefined, deny: ["other"], listed: NAMES, unlisted: [] },
    { allow: undefined, deny: ["*"], listed: [], unlisted: [] },
    { allow: ["*"], deny: ["other"], listed: NAMES, unlisted: [] },
    { allow: ["get_a", "put_a"], deny: ["*_a"], listed: [], unlisted: [] },
    { allow: ["get_a", "put_a"], deny: ["put_a"], listed: ["get_a"], unlisted: ["get_a"] },
  ])("allow $allow, deny $deny", ({ allow, deny, listed, unlisted }, { expect }) => {
    const judged = policy(allow, deny);
    expect(NAMES.filter((name) => isAllowed(judged, name))).toEqual(listed);
    expect(NAMES.filter((name) => isAllowedUnlisted(judged, name))).toEqual(unlisted);
  });
});

function denying(...names: readonly string[]): ItemPolicy {
  return { ...policy(["get_*", "put_a"], ["get_b"]), denied: new Set(names) };
}

describe("what an operator denies beside the configuration", () => {
  test("is forbidden by its very name, listed or not, and nothing else changes", ({ expect }) => {
    const judged = denying("get_a", "*");
    expect(["get_a", "get_b", "get_c", "put_a"].filter((name) => isAllowed(judged, name))).toEqual([
      "get_c",
      "put_a",
    ]);
    expect(isAllowedUnlisted(denying("put_a"), "put_a")).toBe(false);
    expect(isAllowedUnlisted(judged, "put_a")).toBe(true);
    expect(isAllowedUnlisted({ ...OPEN_POLICY, denied: new Set(["a"]) }, "b")).toBe(false);
  });

  test("is not what hides an item in the configuration", ({ expect }) => {
    const judged = denying("get_a");
    expect(hidingRule(judged, "get_a")).toBeUndefined();
    expect(hidingRule(judged, "get_b")).toMatchObject({ pattern: "get_b" });
    expect(hidingRule(judged, "other")).toBe("allow");
  });
});

describe("for any policy", () => {
  const glob = fc
    .array(fc.constantFrom("a", "b", "*", "?"), { maxLength: 3 })
    .map((c) => c.join(""));
  const globs = fc.array(glob, { maxLength: 3 });
  const allow = fc.option(globs, { nil: undefined });
  const name = fc.array(fc.constantFrom("a", "b"), { maxLength: 3 }).map((c) => c.join(""));

  test("what may be used unlisted may be used listed", ({ expect }) => {
    fc.assert(
      fc.property(allow, globs, name, (allow, deny, name) => {
        const judged = policy(allow, deny);
        expect(isAllowed(judged, name) || !isAllowedUnlisted(judged, name)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test("more denied is never more allowed", ({ expect }) => {
    fc.assert(
      fc.property(allow, globs, glob, name, (allow, deny, another, name) => {
        const more = policy(allow, [...deny, another]);
        for (const judge of [isAllowed, isAllowedUnlisted]) {
          expect(judge(policy(allow, deny), name) || !judge(more, name)).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("its order and another's rename make no difference", ({ expect }) => {
    fc.assert(
      fc.property(globs, globs, name, (allow, deny, name) => {
        const renamed = { ...policy(allow, deny), rename: new Map([[name, "other"]]) };
        const turned = policy(allow.toReversed(), deny.toReversed());
        for (const judge of [isAllowed, isAllowedUnlisted]) {
          expect(judge(renamed, name)).toBe(judge(turned, name));
        }
      }),
    );
  });
});
