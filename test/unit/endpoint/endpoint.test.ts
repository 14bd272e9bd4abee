/** Which servers meet at an endpoint, and which slugs are known, while some entries are not served. */

import { describe, test } from "vitest";

import { type Configured, pickEndpoint, slugsOf } from "../../../src/endpoint/endpoint.ts";
import type { EntryNotice, EntryState } from "../../../src/observability/health.ts";
import { fakeServer } from "./fake-server.ts";

function notice(slug: string, state: EntryState): EntryNotice {
  return { name: slug, slug, state, sentences: ["It is so."] };
}

function configured(slugs: readonly string[], notices: readonly EntryNotice[] = []): Configured {
  return { servers: new Map(slugs.map((slug) => [slug, fakeServer(slug)])), notices };
}

describe("the endpoint of the whole gateway", () => {
  test.for([
    { state: "misconfigured", isMerged: true },
    { state: "off", isMerged: true },
    { state: "stdio", isMerged: false },
    { state: "partly-read", isMerged: false },
  ] as const)(
    "keeps its names while an entry beside the only server is $state: $isMerged",
    ({ state, isMerged }, { expect }) => {
      const slug = state === "partly-read" ? "a" : "b";
      const notices = [notice(slug, state)];
      const picked = pickEndpoint(configured(["a"], notices), undefined);
      expect(picked).toMatchObject({ kind: "endpoint", endpoint: { isMerged, notices } });
    },
  );

  test("says whether anybody could be asked what was added", ({ expect }) => {
    const unasked = pickEndpoint(configured(["a"]), undefined);
    expect(unasked).toMatchObject({ endpoint: { isPartial: true } });
    const added = { version: 1, isAny: false, plain: "a" };
    const asked = pickEndpoint({ ...configured(["a"]), added }, undefined);
    expect(asked).not.toHaveProperty("endpoint.isPartial");
    expect(pickEndpoint(configured([]), undefined)).toMatchObject({ isPartial: true });
    expect(pickEndpoint(configured(["a"]), "a")).not.toHaveProperty("endpoint.isPartial");
  });

  test("says that nothing is configured, or that nothing of it is served", ({ expect }) => {
    const none = pickEndpoint(configured([]), undefined);
    expect(none).toMatchObject({ sentence: expect.stringContaining("No upstream is configured") });
    const bad = pickEndpoint(configured([], [notice("a", "misconfigured")]), undefined);
    expect(bad).toMatchObject({ sentence: expect.stringContaining("None of the servers") });
    expect(JSON.stringify(bad)).not.toContain("It is so");
  });
});

describe("the endpoint of one server", () => {
  test("has no notices, and is made once", ({ expect }) => {
    const all = configured(["a"], [notice("b", "misconfigured")]);
    const picked = pickEndpoint(all, "a");
    expect(picked).toMatchObject({ kind: "endpoint", endpoint: { isMerged: false } });
    expect(picked.kind === "endpoint" && picked.endpoint.notices).toBeUndefined();
    expect(pickEndpoint(all, "a")).toBe(picked);
  });

  test("that is not served says so without its mistakes", ({ expect }) => {
    const all = configured(
      ["a"],
      [notice("b", "misconfigured"), notice("c", "off"), notice("d", "stdio")],
    );
    const said = (slug: string): unknown => pickEndpoint(all, slug);
    expect(said("b")).toEqual({
      kind: "unserved",
      sentence: 'The upstream "b" has a mistake in its configuration, so it is not served.',
    });
    expect(said("c")).toEqual({
      kind: "unserved",
      sentence: 'The upstream "c" is switched off, so it is not served.',
    });
    expect(said("d")).toEqual({ kind: "unknown" });
    expect(said("e")).toEqual({ kind: "unknown" });
  });
});

test("the known slugs are those that are served, or are again some day, each once", ({
  expect,
}) => {
  const notices = [
    notice("b", "misconfigured"),
    notice("c", "off"),
    notice("d", "stdio"),
    notice("a", "misconfigured"),
    { name: "???", state: "misconfigured", sentences: [] } as const,
  ];
  expect(slugsOf(configured(["a"], notices))).toEqual(["a", "b", "c"]);
});

test("an endpoint is that of one configuration, also where another has the same servers", ({
  expect,
}) => {
  const before = configured(["a"]);
  expect(pickEndpoint(before, undefined)).toMatchObject({ endpoint: { isMerged: false } });
  const after = { ...before, added: { version: 7, isAny: true, plain: undefined } };
  const next = pickEndpoint(after, undefined);
  expect(next).toMatchObject({ endpoint: { isMerged: true, version: 7 } });
});

test.for([undefined, "a"])(
  "an endpoint has a version before anybody knows what was added, so that listeners of %s are told",
  (slug, { expect }) => {
    const unknown = pickEndpoint(configured(["a"]), slug);
    expect(unknown).toMatchObject({ endpoint: { version: 0 } });
    const added = { version: 7, settledAt: 5, isAny: false, plain: "a" };
    const known = pickEndpoint({ ...configured(["a"]), added }, slug);
    expect(known).toMatchObject({ endpoint: { version: 7, settledAt: 5 } });
  },
);
