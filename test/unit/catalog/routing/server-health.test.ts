/** The health of all servers: one that does not answer delays no other. */

import { describe, test } from "vitest";

import { healthIn, healthOf } from "../../../../src/catalog/routing/server-health.ts";
import type { Feed, Feeds } from "../../../../src/catalog/feeds.ts";
import type { ServerHealth } from "../../../../src/observability/health.ts";
import { catalogOf, things } from "../../notifications/source/fake-feeds.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";

const counts = { tools: 1, resources: 0, templates: 0, prompts: 0 };

function healthy(slug: string): ServerHealth {
  return { slug, state: "healthy", seenAt: 1, counts, watched: 0, isWatching: false };
}

const unasked = (): never => {
  throw new Error("Nobody asks for this");
};

/** Feeds that are asked for nothing but their health. */
function feedsOf(answer: (slug: string) => Promise<ServerHealth>): Feeds {
  return {
    of: (slug): Feed => ({
      ...{ catalog: unasked, watch: unasked, report: unasked, health: () => answer(slug) },
      resources: unasked,
    }),
  };
}

describe("healthIn()", () => {
  test("returns the health of each server in the given order", async ({ expect }) => {
    const slugs = ["c", "a", "b"];
    const feeds = feedsOf(async (slug) => healthy(slug));
    expect(await healthIn(feeds, slugs)).toEqual(slugs.map(healthy));
  });

  test("asks fifty servers at the same time, and waits as long for each", async ({ expect }) => {
    const slugs = Array.from({ length: 50 }, (_, n) => `s${n}`);
    const asked: string[] = [];
    const feeds = feedsOf((slug) => {
      asked.push(slug);
      if (slug === "s1") return Promise.reject(new Error("secret"));
      return slug === "s2" ? Promise.resolve(healthy(slug)) : new Promise(() => undefined);
    });
    const waiting = healthIn(feeds, slugs, 20);
    expect(asked).toEqual(slugs);
    const healths = await waiting;
    expect(healths.map(({ slug }) => slug)).toEqual(slugs);
    expect(healths.filter(({ state }) => state === "unknown")).toHaveLength(49);
    expect(healths[2]).toEqual(healthy("s2"));
    expect(healths[1]?.trouble?.message).toBe('The gateway cannot tell at the moment how "s1" is');
    expect(JSON.stringify(healths)).not.toContain("secret");
  });
});

test("healthOf() names the resources that a server loses to an earlier one", async ({ expect }) => {
  const catalog = catalogOf({ lists: { resources: things("uri", ["tea:menu"]) } });
  const health = feedsOf(async (slug) => healthy(slug));
  const feeds: Feeds = {
    of: (slug) => ({
      ...health.of(slug),
      resources: () =>
        slug === "lost" ? Promise.reject(new Error("restarted")) : Promise.resolve(catalog),
    }),
  };
  const servers = ["first", "lost", "second"].map((slug) => fakeServer(slug));
  const [first, lost, second] = await healthOf(feeds, servers);
  expect([first?.conflicts, lost?.conflicts]).toEqual([[], []]);
  expect(second).toMatchObject({
    ...healthy("second"),
    conflicts: [{ server: "second", with: "first", uris: ["tea:menu"] }],
  });
});

test("healthOf() asks nothing of a server whose lists are kept by account, and says why nothing is known", async ({
  expect,
}) => {
  const feeds: Feeds = { of: unasked };
  const key = { header: "Authorization", prefix: "Bearer " };
  const oauth = { legacy: false, catalog: "user" } as const;
  const servers = [
    fakeServer("own", { auth: { kind: "key", key } }),
    fakeServer("all", { auth: { kind: "oauth-shared", oauth } }),
  ];
  const [own, all] = await healthOf(feeds, servers);
  expect(own).toMatchObject({ slug: "own", state: "unknown", conflicts: [] });
  expect(own?.note).toContain("Each person has an account of their own there");
  expect(all?.note).toContain("one account for everybody");
  expect([own?.trouble, all?.trouble]).toEqual([undefined, undefined]);
});
