/** The promises of names, for any servers, any names, and hostile servers. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import type { Endpoint } from "../../../../src/endpoint/endpoint.ts";
import { type NamedKind, Naming } from "../../../../src/catalog/names/naming.ts";
import { fnv1a64 } from "../../../../src/lib/fnv1a.ts";
import { alone, meeting, type Named, shown } from "./naming-fixture.ts";

const FITS = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const KINDS: readonly NamedKind[] = ["tools", "prompts"];

const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
const units = fc.array(unit, { maxLength: 30 }).map((all) => all.join(""));
const word = fc.constantFrom("a", "b", "x", "list", "a_b", "b_x", "", "_", "A", "0", "__x");
const prefix = fc.constantFrom("", "a_", "a_b_", "a__", "b", "_0a__", "a".repeat(24), "x_-");

/** As `shortName` spells them, of servers that are there and that are not. */
const digits = fc.stringMatching(/^[0-9a-v]{13}$/);
const shortLike = fc
  .tuple(word, fc.constantFrom("a", "b", "c", "zz"), digits)
  .map(([head, slug, hash]) => {
    const tag = (fnv1a64(slug) % 2n ** 20n).toString(32).padStart(4, "0");
    return `${head}_0${tag}${hash}`;
  });

const name = fc.oneof(
  { weight: 4, arbitrary: word },
  { weight: 2, arbitrary: fc.tuple(prefix, word).map((parts) => parts.join("")) },
  { weight: 2, arbitrary: units },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 30 }) },
  { weight: 1, arbitrary: shortLike },
  {
    weight: 1,
    arbitrary: fc.tuple(word, fc.constantFrom(20, 60, 1000)).map(([w, n]) => `${w}-`.repeat(n)),
  },
);
const names = fc.uniqueArray(name, { maxLength: 25 });

const rename = fc
  .uniqueArray(fc.tuple(word, fc.oneof(word, shortLike)), {
    maxLength: 4,
    selector: ([, calling]) => calling,
  })
  .map((pairs) => Object.fromEntries(pairs.filter(([, calling]) => calling !== "")));

const servers: fc.Arbitrary<Named[]> = fc.uniqueArray(
  fc.record({ slug: fc.constantFrom("a", "b", "c", "a-server-with-a-long-name"), prefix, rename }),
  { minLength: 1, maxLength: 4, selector: ({ slug }) => slug },
);

const endpoint: fc.Arbitrary<Endpoint> = fc.tuple(servers, fc.boolean()).map(([named, keeps]) => {
  const [first, ...others] = named;
  if (first === undefined) throw new Error("there is one");
  return keeps ? alone(first) : meeting(first, ...others);
});

/** Some collide with these, all in a corner, or nearly all. */
const hash = fc.constantFrom<(text: string) => bigint>(
  fnv1a64,
  (text) => fnv1a64(text) % 3n,
  (text) => 2n ** 64n - 1n - (fnv1a64(text) % 2n),
  () => 0n,
);
const maxChars = fc.constantFrom(24, 30, 45, 64, 128);

/** A name that a client may send: one that was given out, or one that it made up. */
const anything = fc.oneof(
  name,
  fc.tuple(prefix, name).map((parts) => parts.join("")),
);

function everyList(
  naming: Naming,
  endpoint: Endpoint,
  kind: NamedKind,
  lists: readonly string[][],
): ReadonlyMap<string, string>[] {
  return endpoint.servers.map((server, at) => naming.publicNames(server, kind, lists[at] ?? []));
}

const lists = fc.array(names, { minLength: 4, maxLength: 4 });
const kind = fc.constantFrom(...KINDS);
const RUNS = { numRuns: 1500 };

describe("for any servers and names", () => {
  test("no two items have the same name", ({ expect }) => {
    fc.assert(
      fc.property(
        endpoint,
        maxChars,
        hash,
        lists,
        kind,
        (endpoint, maxChars, hash, lists, kind) => {
          const naming = new Naming(endpoint, maxChars, hash);
          const called = everyList(naming, endpoint, kind, lists);
          for (const [at, map] of called.entries()) {
            expect(shown([...map.keys()].toSorted())).toBe(shown((lists[at] ?? []).toSorted()));
          }
          const all = called.flatMap((map) => [...map.values()]);
          expect(new Set(all).size, shown(called)).toBe(all.length);
        },
      ),
      RUNS,
    );
  });

  test("every model accepts every name of a merged endpoint", ({ expect }) => {
    fc.assert(
      fc.property(endpoint, maxChars, lists, kind, (endpoint, maxChars, lists, kind) => {
        fc.pre(endpoint.isMerged);
        const naming = new Naming(endpoint, maxChars);
        for (const map of everyList(naming, endpoint, kind, lists)) {
          for (const called of map.values()) {
            expect(FITS.test(called) && called.length <= maxChars, shown(called)).toBe(true);
          }
        }
      }),
      RUNS,
    );
  });

  test("a name leads back to its item", ({ expect }) => {
    fc.assert(
      fc.property(
        endpoint,
        maxChars,
        hash,
        lists,
        kind,
        (endpoint, maxChars, hash, lists, kind) => {
          const naming = new Naming(endpoint, maxChars, hash);
          const called = everyList(naming, endpoint, kind, lists);
          for (const [at, server] of endpoint.servers.entries()) {
            for (const [name, publicName] of called[at] ?? []) {
              const located = naming.locate(kind, publicName);
              const found = located.kind === "unknown" ? undefined : located.server.slug;
              expect(found, shown([name, publicName])).toBe(server.slug);
              if (located.kind === "plain") expect(shown(located.name)).toBe(shown(name));
            }
          }
        },
      ),
      RUNS,
    );
  });

  test("a name that a client makes up has no server, or is one that is only too long to be published", ({
    expect,
  }) => {
    fc.assert(
      fc.property(endpoint, maxChars, anything, kind, (endpoint, maxChars, anything, kind) => {
        const naming = new Naming(endpoint, maxChars);
        const located = naming.locate(kind, anything);
        if (located.kind !== "plain") return;
        const called = naming.publicNames(located.server, kind, [located.name]).get(located.name);
        const isGivenOut = !endpoint.isMerged || anything.length <= maxChars;
        if (isGivenOut) expect(shown(called)).toBe(shown(anything));
        else expect(naming.locate(kind, called ?? "").kind).toBe("short");
      }),
      RUNS,
    );
  });

  test("the order of a list makes no difference", ({ expect }) => {
    const shuffled = names.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(endpoint, hash, shuffled, kind, (endpoint, hash, [list, other], kind) => {
        const naming = new Naming(endpoint, 45, hash);
        const [server] = endpoint.servers;
        const called = naming.publicNames(server, kind, list);
        const otherwise = naming.publicNames(server, kind, other);
        for (const [name, publicName] of called) {
          expect(otherwise.get(name), shown([list, other])).toBe(publicName);
        }
      }),
      RUNS,
    );
  });

  test("other items and the order of the servers make no difference", ({ expect }) => {
    fc.assert(
      fc.property(endpoint, lists, kind, (endpoint, lists, kind) => {
        const [first, ...others] = endpoint.servers.toReversed();
        if (first === undefined) throw new Error("there is one");
        const prefixes = new Set(endpoint.servers.map(({ prefix }) => prefix));
        // Of two with the same prefix, one has it: a configuration that is refused.
        fc.pre(prefixes.size === endpoint.servers.length);
        const naming = new Naming(endpoint, 45);
        const turned = new Naming({ ...endpoint, servers: [first, ...others] }, 45);
        for (const [at, map] of everyList(naming, endpoint, kind, lists).entries()) {
          const server = endpoint.servers[at];
          if (server === undefined) throw new Error("there is one");
          for (const [name, publicName] of map) {
            const single = turned.publicNames(server, kind, [name]);
            expect(shown(single.get(name))).toBe(shown(publicName));
          }
        }
      }),
      RUNS,
    );
  });
});
