/** What a listener asks for, what of it is honoured, and what some news means to it. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import type { Interests, Topic } from "../../../../src/catalog/feeds.ts";
import { readFilter, Subscription } from "../../../../src/notifications/modern/listen-filter.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";

const ENDPOINT = {
  servers: [fakeServer("a"), fakeServer("b")],
  isMerged: true,
  keepsNames: false,
} as const;
const ALL = ["tools", "prompts", "resources"] as const;

describe("readFilter()", () => {
  test.for([
    { name: "everything", filter: { toolsListChanged: true, resourceSubscriptions: ["x", "y"] } },
    { name: "an empty one", filter: {} },
    { name: "what is not wanted", filter: { toolsListChanged: false } },
    { name: "what is of an extension", filter: { taskIds: ["t"] } },
  ])("reads $name", ({ name, filter }, { expect }) => {
    const [lists, uris] = name === "everything" ? [["tools"], ["x", "y"]] : [[], []];
    expect(readFilter({ notifications: filter })).toEqual({ lists, uris });
  });

  test("asks for nothing twice", ({ expect }) => {
    const filter = { resourceSubscriptions: ["x", "y", "x"] };
    expect(readFilter({ notifications: filter }).uris).toEqual(["x", "y"]);
  });
});

describe("Subscription", () => {
  const owners = new Map([
    ["x", { slug: "a" }],
    ["y", { slug: "b" }],
  ]);

  test("wants lists of every server, and resources of their owners", ({ expect }) => {
    expect(new Subscription(["tools"], owners).interests(ENDPOINT)).toEqual({
      a: ["tools", "uri:x"],
      b: ["tools", "uri:y"],
    });
    expect(new Subscription([], new Map([["y", { slug: "b" }]])).interests(ENDPOINT)).toEqual({
      b: ["uri:y"],
    });
    expect(new Subscription([], new Map()).interests(ENDPOINT)).toEqual({});
  });

  test.for<{ by: Interests; filter: object }>([
    {
      by: { a: ["tools", "uri:x"], b: ["tools", "uri:y"] },
      filter: { toolsListChanged: true, resourceSubscriptions: ["x", "y"] },
    },
    { by: { b: ["tools"] }, filter: { toolsListChanged: true } },
    { by: { a: ["uri:y"], b: ["uri:x"] }, filter: {} },
    { by: { a: ["prompts"], c: ["uri:x"] }, filter: {} },
    { by: {}, filter: {} },
  ])("honours of $by what was asked for", ({ by, filter }, { expect }) => {
    expect(new Subscription(["tools"], owners).honoured(by).filter()).toEqual(filter);
  });

  test("announces each topic once, if it was asked of that server", ({ expect }) => {
    const subscription = new Subscription(["tools"], owners);
    const topics: readonly Topic[] = ["tools", "prompts", "uri:x", "tools", "uri:y", "uri:z"];
    expect(subscription.topicsOf({ slug: "a", seq: 1, topics })).toEqual(["tools", "uri:x"]);
    expect(subscription.everything()).toEqual(["tools", "uri:x", "uri:y"]);
  });

  test("a URI is no list, whatever it is called", ({ expect }) => {
    const subscription = new Subscription([], new Map([["tools", { slug: "a" }]]));
    const passed = subscription.topicsOf({ slug: "a", seq: 1, topics: ["tools", "uri:tools"] });
    expect(passed).toEqual(["uri:tools"]);
  });

  test("announces nothing else, in any news", ({ expect }) => {
    const uri = fc.constantFrom("x", "y", "z", "tools", "");
    const topic = fc.oneof(
      fc.constantFrom(...ALL),
      uri.map((name): Topic => `uri:${name}`),
    );
    const slug = fc.constantFrom("a", "b");
    const news = fc.record({ slug, seq: fc.nat(), topics: fc.array(topic) });
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.constantFrom(...ALL)),
        fc.dictionary(uri, slug),
        news,
        (lists, owned, said) => {
          const owners = Object.entries(owned).map(([name, at]) => [name, { slug: at }] as const);
          const passed = new Subscription(lists, new Map(owners)).topicsOf(said);
          const expected = new Set(
            said.topics.filter((each) =>
              each.startsWith("uri:")
                ? Object.hasOwn(owned, each.slice(4)) && owned[each.slice(4)] === said.slug
                : (lists as readonly string[]).includes(each),
            ),
          );
          expect(passed).toHaveLength(expected.size);
          expect(new Set(passed).size).toBe(expected.size);
        },
      ),
    );
  });
});
