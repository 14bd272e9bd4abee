/** The indexes of a catalog: names both ways, and positions. */

import { describe, test, vi } from "vitest";

import { itemNamed, itemIndex, publicIndex, shows } from "../../../../src/catalog/cache/lookups.ts";
import { Naming } from "../../../../src/catalog/names/naming.ts";
import { Glob } from "../../../../src/policy/glob.ts";
import { OPEN_POLICY } from "../../../../src/policy/item-policy.ts";
import { catalogOf, things, tools } from "../../notifications/source/fake-feeds.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";

const denying = { ...OPEN_POLICY, deny: [new Glob("secret*")] };
const [first, second] = [
  fakeServer("one", { tools: denying, resources: denying }),
  fakeServer("two"),
];
const naming = new Naming({ servers: [first, second], isMerged: true, keepsNames: false }, 45);

test("itemNamed() and itemIndex() find items by the server's names", ({ expect }) => {
  const catalog = catalogOf({
    lists: { tools: tools("a", "__proto__", "b"), resources: things("uri", ["a"]) },
  });
  expect(itemNamed(catalog, "tools", "b")).toBe(catalog.lists.tools[2]);
  expect(itemNamed(catalog, "resources", "a")).toBe(catalog.lists.resources[0]);
  expect(itemIndex(catalog, "tools", "__proto__")).toBe(1);
  for (const name of ["c", "constructor", "toString"]) {
    expect([itemNamed(catalog, "tools", name), itemIndex(catalog, "tools", name)]).toEqual([
      ...[undefined, undefined],
    ]);
  }
  expect(itemNamed(catalog, "prompts", "a")).toBeUndefined();
});

test("shows() is true for listed items that may be seen", ({ expect }) => {
  const lists = {
    tools: tools("a", "secret"),
    templates: things("uriTemplate", ["secret:{x}", "x:{x}"]),
  };
  const catalog = catalogOf({ lists });
  const seen = (server: typeof first) =>
    (["tools", "templates"] as const).map((list) =>
      lists[list].map(({ name }) => shows(server, catalog, list, name)),
    );
  expect(seen(first)).toEqual([
    [true, false],
    [false, true],
  ]);
  expect(seen(second)).toEqual([
    [true, true],
    [true, true],
  ]);
  expect(shows(second, catalog, "tools", "b")).toBe(false);
});

describe("publicIndex()", () => {
  test("maps the names of visible items both ways", ({ expect }) => {
    const long = "a_very_long_name_".repeat(10);
    const catalog = catalogOf({
      lists: { tools: tools("a", "secret", long), prompts: tools("p") },
    });
    const { toPublic, toServer } = publicIndex(naming, first, "tools", catalog);
    expect([...toPublic.keys()].toSorted()).toEqual(["a", long].toSorted());
    expect(toPublic.get("a")).toBe("one__a");
    expect(toPublic.get(long)).toHaveLength(45);
    expect([...toServer]).toEqual([...toPublic].map(([name, publicName]) => [publicName, name]));
    expect(publicIndex(naming, first, "prompts", catalog).toPublic.get("p")).toBe("one__p");
  });

  test("is computed once for a catalog at an endpoint", ({ expect }) => {
    const catalog = catalogOf({ lists: { tools: tools("a") } });
    const making = vi.spyOn(Naming.prototype, "publicNames");
    const index = publicIndex(naming, first, "tools", catalog);
    expect(publicIndex(naming, first, "tools", catalog)).toBe(index);
    expect(making).toHaveBeenCalledTimes(1);
    const alone = new Naming({ servers: [first], isMerged: false, keepsNames: true }, 45);
    expect(publicIndex(alone, first, "tools", catalog).toPublic.get("a")).toBe("a");
    expect(publicIndex(naming, first, "tools", catalog)).toBe(index);
    making.mockRestore();
  });
});
