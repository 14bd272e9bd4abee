/** The health of all servers: one that does not answer delays no other. */

import { describe, test } from "vitest";

import { healthOf, lookAt } from "../../../../src/catalog/routing/server-health.ts";
import type { Feed, Feeds, LookReason } from "../../../../src/catalog/feeds.ts";
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

/** Feeds that are asked for nothing but a look, and for resources that they do not have. */
function feedsOf(answer: (slug: string, reason: LookReason) => Promise<ServerHealth>): Feeds {
  return {
    of: (slug): Feed => ({
      ...{ catalog: unasked, watch: unasked, report: unasked, health: unasked, describe: unasked },
      outdated: unasked,
      announce: unasked,
      look: (reason) => answer(slug, reason),
      resources: () => Promise.resolve(undefined),
    }),
  };
}

const serversOf = (slugs: readonly string[]) => slugs.map((slug) => fakeServer(slug));

const account = (): Promise<undefined> => Promise.resolve(undefined);

describe("healthOf()", () => {
  test("returns the health of each server in the given order", async ({ expect }) => {
    const slugs = ["c", "a", "b"];
    const feeds = feedsOf(async (slug) => healthy(slug));
    const healths = await healthOf(feeds, serversOf(slugs));
    expect(healths).toEqual(slugs.map((slug) => ({ ...healthy(slug), conflicts: [] })));
  });

  test("asks fifty servers at the same time, and waits as long for each", async ({ expect }) => {
    const slugs = Array.from({ length: 50 }, (_, n) => `s${n}`);
    const asked: string[] = [];
    const feeds = feedsOf((slug, reason) => {
      asked.push(`${slug} ${reason}`);
      if (slug === "s1") return Promise.reject(new Error("secret"));
      return slug === "s2" ? Promise.resolve(healthy(slug)) : new Promise(() => undefined);
    });
    const healths = await healthOf(feeds, serversOf(slugs));
    expect(asked).toEqual(slugs.map((slug) => `${slug} page`));
    expect(healths.map(({ slug }) => slug)).toEqual(slugs);
    expect(healths.filter(({ state }) => state === "unknown")).toHaveLength(49);
    expect(healths[2]).toMatchObject(healthy("s2"));
    expect(healths[1]?.trouble?.message).toBe('The gateway cannot tell at the moment how "s1" is');
    expect(JSON.stringify(healths)).not.toContain("secret");
  });

  test("names the resources that a server loses to an earlier one, and since when", async ({
    expect,
  }) => {
    const catalog = catalogOf({ lists: { resources: things("uri", ["tea:menu"]) } });
    const changes: Readonly<Record<string, number>> = { first: 20, second: 30 };
    const health = feedsOf(async (slug) => ({ ...healthy(slug), changedAt: changes[slug] ?? 40 }));
    const feeds: Feeds = {
      of: (slug) => ({
        ...health.of(slug),
        resources: () =>
          slug === "lost" ? Promise.reject(new Error("restarted")) : Promise.resolve(catalog),
      }),
    };
    const [first, lost, second] = await healthOf(feeds, serversOf(["first", "lost", "second"]));
    expect([first?.conflicts, lost?.conflicts]).toEqual([[], []]);
    expect(second).toMatchObject({
      ...healthy("second"),
      conflicts: [{ server: "second", with: "first", uris: ["tea:menu"], since: 30 }],
    });
  });

  test("asks nothing of a server of which the gateway has no account, and says so in words", async ({
    expect,
  }) => {
    const feeds: Feeds = { of: unasked };
    const key = { header: "Authorization", prefix: "Bearer " };
    const oauth = { legacy: false, catalog: "user" } as const;
    const all = fakeServer("all", { auth: { kind: "oauth-shared", oauth } });
    const credentials = { account } as unknown as NonNullable<typeof all.target.credentials>;
    const [own, shared] = await healthOf(feeds, [
      fakeServer("own", { auth: { kind: "key", key } }),
      { ...all, target: { ...all.target, credentials } },
    ]);
    expect(own).toMatchObject({ slug: "own", state: "personal", conflicts: [] });
    expect(own?.note).toContain("Each person has an account of their own there");
    expect(shared).toMatchObject({ slug: "all", state: "unconnected" });
    expect(shared?.note).toContain("which nobody has connected yet");
    expect([own?.trouble, shared?.trouble]).toEqual([undefined, undefined]);
  });
});

describe("lookAt()", () => {
  test("looks at a thousand servers, eight at a time, and survives those that fail", async ({
    expect,
  }) => {
    let running = 0;
    let most = 0;
    let looks = 0;
    const feeds = feedsOf(async (slug, reason) => {
      expect(reason).toBe("start");
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      looks += 1;
      if (slug === "s5") throw new Error("restarted");
      return healthy(slug);
    });
    const slugs = Array.from({ length: 1000 }, (_, n) => `s${n}`);
    await lookAt(feeds, serversOf(slugs), "start");
    expect([looks, most]).toEqual([1000, 8]);
  });
});
