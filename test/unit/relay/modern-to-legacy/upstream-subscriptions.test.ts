/** What a session is subscribed to for the clients that listen, and what its server is asked for. */

import { describe, test } from "vitest";

import { UpstreamSubscriptions } from "../../../../src/relay/modern-to-legacy/upstream-subscriptions.ts";

const AT_ONCE = 4;

interface World {
  readonly subscriptions: UpstreamSubscriptions;
  /** "+uri" and "-uri", in the order of asking. */
  readonly asked: string[];
  wanted: ReadonlySet<string>;
  /** The server's answer. */
  grant: (line: string) => boolean | Promise<boolean>;
  /** Makes it want these. */
  readonly want: (...uris: readonly string[]) => Promise<void>;
}

function worldOf(granted: readonly string[] = []): World {
  const asked: string[] = [];
  const subscriptions = new UpstreamSubscriptions({
    wanted: () => world.wanted,
    granted,
    request: async ({ method, params }) => {
      const line = `${method === "resources/subscribe" ? "+" : "-"}${String(params?.["uri"])}`;
      asked.push(line);
      return world.grant(line);
    },
  });
  const world: World = {
    ...{ subscriptions, asked, wanted: new Set(), grant: () => true },
    want: (...uris) => {
      world.wanted = new Set(uris);
      return subscriptions.follow();
    },
  };
  return world;
}

const many = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `${n}`);

describe("a session", () => {
  test("is subscribed to what is wanted, each once", async ({ expect }) => {
    const { want, asked, subscriptions } = worldOf();
    await want("a", "b");
    await want("a", "b");
    await want("b", "c");
    expect(asked).toEqual(["+a", "+b", "-a", "+c"]);
    expect(subscriptions.uris).toEqual(["b", "c"]);
    await want();
    expect(asked.slice(4)).toEqual(["-b", "-c"]);
    await want("a");
    expect(asked.slice(6)).toEqual(["+a"]);
  });

  test("is asked for a few at a time", async ({ expect }) => {
    const world = worldOf();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    world.grant = () => promise;
    const done = world.want(...many(10));
    await Promise.resolve();
    await new Promise((resolve) => setTimeout(resolve));
    expect(world.asked).toHaveLength(AT_ONCE);
    resolve(true);
    await done;
    expect(world.asked).toHaveLength(10);
  });

  test("is not subscribed to what nobody wants any more when its turn comes", async ({
    expect,
  }) => {
    const world = worldOf();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    world.grant = () => promise;
    const first = world.want(...many(10));
    await new Promise((resolve) => setTimeout(resolve));
    const second = world.want("0", "9");
    resolve(true);
    await Promise.all([first, second]);
    expect(world.asked).toEqual(["+0", "+1", "+2", "+3", "+9", "-1", "-2", "-3"]);
    expect(world.subscriptions.uris).toEqual(["0", "9"]);
  });

  test("of an earlier life has been subscribed to what is left now", async ({ expect }) => {
    const { want, asked, subscriptions } = worldOf(["a", "b"]);
    await want("a");
    expect(asked).toEqual(["-b", "+a"]);
    expect(subscriptions.uris).toEqual(["a"]);
  });
});

describe("a server that refuses", () => {
  test("is asked no further, and not again", async ({ expect }) => {
    const world = worldOf();
    world.grant = () => false;
    await world.want(...many(20));
    expect(world.asked).toHaveLength(AT_ONCE);
    await world.want(...many(20));
    expect(world.asked).toHaveLength(AT_ONCE);
    expect(world.subscriptions.uris).toEqual([]);
    await world.want();
    expect(world.asked).toHaveLength(AT_ONCE);
  });

  test("some is asked for the others", async ({ expect }) => {
    const world = worldOf();
    world.grant = (line) => line !== "+3";
    await world.want(...many(20));
    expect(world.asked).toHaveLength(20);
    expect(world.subscriptions.uris).toHaveLength(19);
  });

  test("is asked again in another session", async ({ expect }) => {
    const world = worldOf();
    world.grant = (line) => line === "+a";
    await world.want("a", "b");
    world.subscriptions.renew();
    world.grant = () => true;
    await world.want("a", "b");
    expect(world.asked).toEqual(["+a", "+b", "+b"]);
  });

  test("to be left is not asked for all of it, and again later", async ({ expect }) => {
    const world = worldOf();
    await world.want(...many(20));
    world.grant = () => false;
    await world.want();
    expect(world.asked).toHaveLength(20 + AT_ONCE);
    expect(world.subscriptions.uris).toEqual([]);
    world.grant = () => true;
    await world.want();
    expect(world.asked).toHaveLength(40);
  });
});
