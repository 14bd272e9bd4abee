/** The feed of one account at a server, whose object reads what that account is shown and nothing else. */

import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, test } from "vitest";

import { FeedObject } from "../../../durable-objects/feed-object.ts";
import { feedsIn } from "../../../durable-objects/ports.ts";
import type { CatalogAnswer } from "../../../src/catalog/catalog.ts";
import type { Credential } from "../../../src/upstream/credentials.ts";
import { MODERN, short } from "../feed-object.ts";
import { Upstream } from "../upstream.ts";

const CLIENT = { clientId: "c", clientSecret: "${CLIENT_SECRET}", issuer: "https://as.example" };
const TOOLS = { tools: [{ name: "mine", inputSchema: { type: "object" } }] };

/** What is kept of the server for this account of the operator's. */
function keyOf({ slug }: Upstream, accountId: string): string {
  return `${slug} ${accountId} shared`;
}

/** An object whose name says nothing, as when its alarm wakes it. */
function woken({ slug }: Upstream): DurableObjectStub<FeedObject> {
  return env.FEEDS.getByName(`w ${slug}`);
}

/** The next life of the object, in a gateway whose vaults hold this credential. */
function nextLife<T>(
  upstream: Upstream,
  credential: Credential,
  act: (next: FeedObject, asked: readonly string[]) => Promise<T>,
  more: object = {},
): Promise<T> {
  const stub = woken(upstream);
  const asked: string[] = [];
  const vault = { credential: () => Promise.resolve(credential) };
  const vaults = { getByName: (name: string) => (asked.push(name), vault) };
  const servers = JSON.parse(String(env["MCP_SERVERS"])) as Record<string, object>;
  const own = {
    ...servers[upstream.slug],
    ...{ auth: "client-credentials", oauth: CLIENT },
    ...more,
  };
  return runInDurableObject(stub, (_instance, state) => {
    const changed = {
      ...env,
      VAULTS: vaults,
      CLIENT_SECRET: "s",
      MCP_SERVERS: JSON.stringify({ [upstream.slug]: own }),
    };
    return act(new FeedObject(state, changed as unknown as Env), asked);
  });
}

const useOf = (accountId: string): Credential => ({
  ...{ kind: "use", accountId, generation: 1, header: "X-Key", value: "k" },
});
const ask = (feed: FeedObject): Promise<CatalogAnswer> =>
  feed.catalog({ client: MODERN, waitMs: 5000 });

describe("U64 the feed of an account", () => {
  test("reads with that account's credential, and finds its vault when it is woken", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "modern", ...TOOLS });
    const named = woken(upstream);
    await runInDurableObject(named, (_instance, { storage }) =>
      storage.kv.put("key", keyOf(upstream, "a1")),
    );
    await evictDurableObject(named);
    await nextLife(upstream, useOf("a1"), async (feed, asked) => {
      expect(short(await ask(feed))).toBe("mine");
      expect(asked).toContain("shared");
    });
    // The account's token has died: its last list is still there.
    const need = { kind: "need", need: "connect", reason: "refused", accountId: "a1" } as const;
    await nextLife(upstream, need, async (feed) => {
      expect(short(await ask(feed))).toContain("mine");
    });
  });

  test("reads nothing with another account's", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern", ...TOOLS });
    await runInDurableObject(woken(upstream), (_instance, { storage }) =>
      storage.kv.put("key", keyOf(upstream, "a1")),
    );
    await nextLife(upstream, useOf("a2"), async (feed) => {
      expect(short(await ask(feed))).toBe("none (account)");
    });
    expect(await upstream.sent("tools/list")).toEqual([]);
  });

  test("ends with the account, also while the server is switched off", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern", ...TOOLS });
    const stub = woken(upstream);
    await runInDurableObject(stub, (_instance, { storage }) =>
      storage.kv.put("key", keyOf(upstream, "a1")),
    );
    const credential = useOf("a1");
    await nextLife(upstream, credential, async (feed) => {
      expect(short(await ask(feed))).toBe("mine");
    });
    const kept = (): Promise<number> =>
      runInDurableObject(stub, (_instance, { storage }) => [...storage.kv.list()].length);
    const isOff = { disabled: true };
    await nextLife(
      upstream,
      credential,
      (feed) => feed.accountEnded({ slug: upstream.slug, accountId: "a2" }),
      isOff,
    );
    expect(await kept()).toBeGreaterThan(0);
    await nextLife(
      upstream,
      credential,
      (feed) => feed.accountEnded({ slug: upstream.slug, accountId: "a1" }),
      isOff,
    );
    expect(await kept()).toBe(0);
    await runInDurableObject(stub, async (_instance, { storage }) => {
      expect(await storage.getAlarm()).toBeNull();
    });
  });

  test("is nothing where the server is the same to all", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern", ...TOOLS });
    const feed = feedsIn(env).of(keyOf(upstream, "a1"));
    expect(short(await feed.catalog({ client: MODERN, waitMs: 0 }))).toBe("none (unconfigured)");
    expect(await upstream.sent("tools/list")).toEqual([]);
  });
});
