/** An endpoint as each person has it. */

import { describe, test } from "vitest";

import type { VaultOwner, Vaults } from "../../../src/accounts/vault.ts";
import type { Endpoint } from "../../../src/endpoint/endpoint.ts";
import { endpointFor } from "../../../src/endpoint/personal-endpoint.ts";
import type { Server } from "../../../src/endpoint/server.ts";
import { byKey, bySlug } from "../../../src/notifications/server-keys.ts";
import { fakeServer } from "./fake-server.ts";

const KEY: Server["auth"] = { kind: "key", key: { header: "X-Key", prefix: "" } };
const OAUTH = { registration: [], pkce: "required", legacy: false, catalog: "user" } as const;
const SHARED: Server["auth"] = { kind: "oauth-shared", oauth: OAUTH };

/** Vaults in which each owner has an account, except who is called Nobody. */
function world() {
  const asked: VaultOwner[] = [];
  const of = (owner: VaultOwner): unknown => {
    asked.push(owner);
    const name = owner.kind === "person" ? owner.person : "all";
    return { account: () => Promise.resolve(name === "Nobody" ? undefined : `of-${name}`) };
  };
  return {
    asked,
    scope: {
      vaults: { of } as unknown as Vaults,
      cacheSeconds: 0,
      assertion: () => Promise.resolve(""),
    },
  };
}

const at = (...servers: [Server, ...Server[]]): Endpoint => ({
  ...{ servers, isMerged: servers.length > 1, keepsNames: false },
});
const accounts = ({ servers }: Endpoint): Promise<unknown[]> =>
  Promise.all(servers.map(async ({ target }) => target.credentials?.account()));
const open = fakeServer("open");
const mine = fakeServer("mine", { auth: KEY });
const lent = fakeServer("lent", { auth: SHARED });

describe("an endpoint without accounts", () => {
  test("is the same object for everybody, and no vault is asked", async ({ expect }) => {
    const { asked, scope } = world();
    const endpoint = at(open, fakeServer("other", { auth: { kind: "headers" } }));
    const interests = { open: ["tools"] } as const;
    expect(endpointFor(endpoint, { person: "Alice" }, scope)).toBe(endpoint);
    expect(endpointFor(endpoint, {}, scope)).toBe(endpoint);
    expect(await byKey(endpoint, interests)).toBe(interests);
    expect(bySlug(endpoint, interests)).toBe(interests);
    expect(asked).toEqual([]);
  });
});

describe("an endpoint with accounts", () => {
  test("U40 has each person's own credentials", async ({ expect }) => {
    const { scope } = world();
    const endpoint = at(open, mine, lent);
    const alice = endpointFor(endpoint, { person: "Alice" }, scope);
    const bob = endpointFor(endpoint, { person: "Bob" }, scope);
    expect(endpointFor(endpoint, { person: "Alice" }, scope)).toBe(alice);
    expect(bob).not.toBe(alice);
    expect(await accounts(alice)).toEqual([undefined, "of-Alice", "of-all"]);
    expect(await accounts(bob)).toEqual([undefined, "of-Bob", "of-all"]);
    expect(alice.servers[0]).toBe(open);
  });

  test("U40 uses no account while the person is not known", async ({ expect }) => {
    const { asked, scope } = world();
    const { servers } = endpointFor(at(mine), {}, scope);
    const { credentials } = servers[0].target;
    expect(await credentials?.account()).toBeUndefined();
    expect(await credentials?.current()).toMatchObject({ kind: "need" });
    expect(asked).toEqual([]);
  });

  test("U60 hears of changes at the person's own accounts alone", async ({ expect }) => {
    const { scope } = world();
    const endpoint = at(open, mine, lent);
    const interests = { open: ["tools"], mine: ["tools"], lent: ["prompts"] } as const;
    const alice = endpointFor(endpoint, { person: "Alice" }, scope);
    const keyed = await byKey(alice, interests);
    expect(keyed).toEqual({
      open: ["tools"],
      "mine of-Alice person Alice": ["tools"],
      "lent of-all shared": ["prompts"],
      // A vault announces other accounts to those who are told of lists.
      "accounts/person Alice": ["tools"],
      "accounts/shared": ["prompts"],
    });
    expect(bySlug(alice, keyed)).toMatchObject(interests);
    const nobody = await byKey(endpointFor(endpoint, { person: "Nobody" }, scope), interests);
    const known = ["open", "lent of-all shared", "accounts/person Nobody", "accounts/shared"];
    expect(Object.keys(nobody)).toEqual(known);
  });
});
