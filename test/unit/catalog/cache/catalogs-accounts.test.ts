/** The copies of catalogs of a server that knows its callers by an account. */

import { describe, test, vi } from "vitest";

import {
  catalogAtHand,
  currentCatalog,
  knownCatalog,
} from "../../../../src/catalog/cache/catalogs.ts";
import { clientKind } from "../../../../src/endpoint/client-kind.ts";
import { defaultLimits } from "../../../../src/policy/limits.ts";
import { catalogOf, FakeFeeds, tools } from "../../notifications/source/fake-feeds.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";
import { CONNECT, fakeCredentials } from "../../upstream/fake-credentials.ts";

const client = clientKind("2026-07-28", {});

/** A server at which two accounts have different tools. */
function world(slug: string) {
  const feeds = new FakeFeeds();
  const credentials = fakeCredentials("a1");
  const base = fakeServer(slug);
  const server = { ...base, target: { ...base.target, credentials } };
  feeds.of(`${slug} a1 person p1`).has = catalogOf({ lists: { tools: tools("first") } });
  feeds.of(`${slug} a2 person p1`).has = catalogOf({ lists: { tools: tools("second") } });
  const context = { feeds, limits: { ...defaultLimits(), catalogWaitMilliseconds: 20 } };
  const names = async (): Promise<unknown> =>
    (await knownCatalog(context, server, client)).catalog?.lists.tools.map(({ name }) => name);
  const current = (): ReturnType<typeof currentCatalog> => currentCatalog(context, server, client);
  return { feeds, credentials, names, current, atHand: () => catalogAtHand(server, client) };
}

describe("the catalog of a server with accounts", () => {
  test("U62 is read anew for another account, and the first one's is not shown", async ({
    expect,
  }) => {
    const { credentials, names, feeds } = world("own");
    expect(await names()).toEqual(["first"]);
    credentials.accountId = "a2";
    expect(await names()).toEqual(["second"]);
    expect(feeds.of("own").asked).toEqual([]);
  });

  test("U64 stays while its account cannot be used", async ({ expect }) => {
    const { credentials, names } = world("dead");
    expect(await names()).toEqual(["first"]);
    credentials.need = { ...CONNECT, accountId: "a1" };
    expect(await names()).toEqual(["first"]);
  });

  test("U58 is one tool without an account, and no feed is asked", async ({ expect }) => {
    const { credentials, current, feeds } = world("none");
    credentials.account = () => Promise.resolve(undefined);
    expect(await current()).toMatchObject({
      catalog: { lists: { tools: [{ name: "connect" }], prompts: [], resources: [] } },
      trouble: undefined,
    });
    for (const key of ["none", "none a1 person p1"]) expect(feeds.of(key).asked).toEqual([]);
  });

  test("is not at hand any more when the account has gone", async ({ expect }) => {
    const { credentials, names, atHand } = world("gone");
    await names();
    expect(atHand()).toMatchObject({ lists: { tools: [{ name: "first" }] } });
    credentials.account = () => Promise.resolve(undefined);
    await names();
    expect(atHand()).toBeUndefined();
  });

  test("is that of the account of now, where this isolate has one of some seconds ago", async ({
    expect,
  }) => {
    const { credentials, current, feeds } = world("past");
    // The feed of an account that has ended can read nothing.
    const trouble = { reason: "account", message: "m", since: 0 };
    Object.assign(feeds.of("past a1 person p1"), { has: undefined, trouble });
    credentials.changed = () => (credentials.accountId = "a2");
    expect(await current()).toMatchObject({
      catalog: { lists: { tools: [{ name: "second" }] } },
      trouble: undefined,
    });
  });

  test("is read when the vault has restarted, and is not that of nobody when it does not answer", async ({
    expect,
  }) => {
    const { credentials, current } = world("lost");
    vi.useFakeTimers();
    let failures = 7;
    credentials.account = () => {
      failures -= 1;
      return failures < 0
        ? Promise.resolve("a1")
        : Promise.reject(new Error("The object was reset."));
    };
    const late = current();
    await vi.advanceTimersByTimeAsync(1300);
    expect(await late).toMatchObject({ catalog: { lists: { tools: [{ name: "first" }] } } });
    failures = 8;
    const log = vi.spyOn(console, "error").mockReturnValue();
    const without = current();
    await vi.advanceTimersByTimeAsync(1300);
    const known = await without;
    vi.useRealTimers();
    expect(known).toMatchObject({
      ...{ catalog: undefined, trouble: { reason: "gateway" } },
      announcer: { key: "accounts/person p1" },
    });
    expect(known).not.toHaveProperty("isUnconnected");
    expect(log).toHaveBeenCalledOnce();
    log.mockRestore();
  });

  test("U58 is the same tool for an account that died before anything was read with it", async ({
    expect,
  }) => {
    const { current, feeds } = world("ill");
    const trouble = { reason: "account", message: "m", since: 0 };
    Object.assign(feeds.of("ill a1 person p1"), { has: undefined, trouble });
    expect(await current()).toMatchObject({
      catalog: { lists: { tools: [{ name: "connect" }] } },
      isUnconnected: true,
    });
  });
});
