/** Attempts to connect an account, as the browser that comes back meets them. */

import { describe, test } from "vitest";

import { withSql } from "../../lib/sql-fixture.ts";
import { Accounts } from "../../../../src/accounts/store/accounts.ts";
import type { VaultService } from "../../../../src/accounts/service/vault-service.ts";
import type { FinishOutcome } from "../../../../src/accounts/vault.ts";
import type { Keyring } from "../../../../src/lib/seal.ts";
import { vaultKeyring } from "../../../../src/accounts/service/vault-keyring.ts";
import type { UsableCredential } from "../../../../src/upstream/credentials.ts";
import {
  begin,
  callbackOf,
  connect,
  life,
  OAUTH,
  play,
  type Played,
  root,
} from "./vault-fixture.ts";
import { until } from "../../../support/until.ts";

const MINUTE = 60_000;

describe("what is ended while it is connected", () => {
  test.for<readonly [what: string, end: (vault: VaultService) => Promise<unknown>]>([
    ["the account", (vault) => vault.disconnect("s")],
    ["all accounts of a person", (vault) => vault.disconnectAll()],
  ])("%s: the tokens that arrive are revoked, and not kept", ([, end], { expect }) =>
    withSql(async (fixture) => {
      const arrived = Promise.withResolvers<void>();
      const played = play({ arrived: arrived.promise });
      const vault = life(fixture, { played });
      const finishing = vault.finish(callbackOf(await begin(vault)));
      await until(() => played.exchanges === 1, "the exchange");
      await end(vault);
      arrived.resolve();
      expect(await finishing).toEqual({ kind: "unknown" });
      expect(await vault.account("s")).toBeUndefined();
      await until(() => played.revoked.join() === "refresh-0", "the revocation");
      await connect(vault);
      expect(await vault.account("s")).toBeDefined();
    }),
  );
});

type Bring = (vault: VaultService) => Promise<FinishOutcome>;
const bringCallback: Bring = async (vault) => vault.finish(callbackOf(await begin(vault)));
const bringKey: Bring = (vault) => vault.enterKey("s", "a-key-0123456789");

describe("U63 a person who is disabled while their browser brings", () => {
  const brought = [
    ["a callback", "oauth", bringCallback],
    ["a key", "key", bringKey],
  ] as const;

  test.for(brought)(
    "%s has no account, though it comes when all have ended",
    ([, kind, bring], { expect }) =>
      withSql(async (fixture) => {
        const played = play({ isDisabled: async () => true });
        const vault = life(fixture, { played, kind });
        await vault.disconnectAll();
        expect(await bring(vault)).toEqual({ kind: "unknown" });
        expect(played.exchanges).toBe(0);
        expect(await vault.accounts()).toEqual([]);
      }),
  );

  test.for(brought)(
    "%s has no account, though all end just after the vault has asked",
    ([, kind, bring], { expect }) =>
      withSql(async (fixture) => {
        const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()];
        const isDisabled = (): Promise<boolean> => {
          asked.resolve();
          return answer.promise;
        };
        const vault = life(fixture, { played: play({ isDisabled }), kind });
        const bringing = bring(vault);
        await asked.promise;
        await vault.disconnectAll();
        answer.resolve(false);
        expect(await bringing).toEqual({ kind: "unknown" });
        expect(await vault.accounts()).toEqual([]);
      }),
  );
});

describe("the callback of an attempt", () => {
  test("U27 U28 counts once: a reload gets the same answer, and no second exchange", ({ expect }) =>
    withSql(async (fixture) => {
      const played = play();
      const vault = life(fixture, { played });
      const callback = callbackOf(await begin(vault));
      const [first, second] = await Promise.all([vault.finish(callback), vault.finish(callback)]);
      expect(first.kind).toBe("connected");
      expect(second).toEqual(first);
      fixture.clock.now += 29_000;
      expect(await vault.finish(callback)).toEqual(first);
      fixture.clock.now += 1000;
      expect(await vault.finish(callback)).toEqual({ kind: "unknown" });
      expect(played.exchanges).toBe(1);
    }));

  test("U24 U25 U26 U27 is nothing to another person, browser, server or time, and changes nothing", ({
    expect,
  }) =>
    withSql(async (fixture) => {
      const played = play();
      const vault = life(fixture, { played });
      const callback = callbackOf(await begin(vault));
      const others = [
        { ...callback, person: "u_carol" },
        { ...callback, cookies: {} },
        { ...callback, cookies: { [Object.keys(callback.cookies)[0] ?? ""]: "x".repeat(43) } },
        { ...callback, slug: "t" },
        { ...callback, query: callback.query.replace("state=", "state=x") },
        { ...callback, query: `${callback.query}&iss=https%3A%2F%2Fother.example` },
      ];
      for (const other of others) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other, as a browser
        expect(await vault.finish(other)).toEqual({ kind: "unknown" });
      }
      expect(await vault.accounts()).toEqual([]);
      expect(played.exchanges).toBe(0);
      expect((await vault.finish(callback)).kind).toBe("connected");
    }));

  test("U27 does not spend its code without the keys to seal what it brings", ({ expect }) =>
    withSql(async (fixture) => {
      const played = play();
      let state: "out of reach" | "there" | "lost" = "out of reach";
      const keys = async (): Promise<Keyring> => {
        if (state !== "there") throw new Error("The keys are out of reach");
        state = "lost";
        return vaultKeyring([root("a")]);
      };
      const vault = life(fixture, { played, keys });
      const callback = callbackOf(await begin(vault));
      await expect(vault.finish(callback)).rejects.toThrow("out of reach");
      expect(played.exchanges).toBe(0);
      // Had once, they are not asked for again when the tokens are there.
      state = "there";
      expect((await vault.finish(callback)).kind).toBe("connected");
      expect([played.exchanges, state]).toEqual([1, "lost"]);
      expect(await vault.credential({ slug: "s" })).toMatchObject({ kind: "use" });
    }));

  test("U27 is too late after ten minutes", ({ expect }) =>
    withSql(async (fixture) => {
      const vault = life(fixture, { played: play() });
      const callback = callbackOf(await begin(vault));
      fixture.clock.now += 10 * MINUTE;
      expect(await vault.finish(callback)).toEqual({ kind: "unknown" });
    }));

  test.for([
    [{ iss: "https://other.example" }, "iss-mismatch"],
    [{ iss: "" }, "iss-mismatch"],
    [{ iss: "https://other.example", error: "access_denied" }, "iss-mismatch"],
    [{ error: "access_denied" }, "declined"],
    [{ error: "server_error" }, "authorization-failed"],
  ] as const)("U29 U30 with %j is refused: %s", ([more, code], { expect }) =>
    withSql(async (fixture) => {
      const played = play();
      const vault = life(fixture, { played });
      const outcome = await vault.finish(callbackOf(await begin(vault), more));
      expect(outcome).toEqual({ kind: "problem", problem: { code } });
      expect(played.exchanges).toBe(0);
      expect(played.audit).toEqual([`connect_failed ${code}`]);
    }),
  );

  test("U31 of two tabs: each is right, and the last one wins", ({ expect }) =>
    withSql(async (fixture) => {
      const vault = life(fixture, { played: play() });
      const [one, other] = [await begin(vault), await begin(vault)];
      const last = await vault.finish(callbackOf(other));
      const first = await vault.finish(callbackOf(one));
      expect([first.kind, last.kind]).toEqual(["connected", "connected"]);
      expect(await vault.accounts()).toHaveLength(1);
      expect(await vault.account("s")).toBe(
        first.kind === "connected" ? first.account.accountId : "",
      );
    }));
});

describe("what is stored", () => {
  test("U34 has no token and no state in clear", ({ expect }) =>
    withSql(async (fixture) => {
      const vault = life(fixture, { played: play() });
      const begun = await begin(vault);
      await vault.finish(callbackOf(begun));
      await vault.credential({ slug: "s" });
      const tables = ["accounts_1", "attempts_1", "asks_1"];
      const dump = JSON.stringify(
        tables.map((table) => [...fixture.sql.exec(`SELECT * FROM ${table}`)]),
      );
      expect(dump).toContain(await vault.account("s"));
      for (const secret of [
        "access-0",
        "refresh-0",
        new URL(begun.url).searchParams.get("state"),
      ]) {
        expect(dump).not.toContain(secret);
      }
      expect(dump).not.toContain(begun.cookie.value);
    }));

  test("U35 does not open for another person, and that is no crash", ({ expect }) =>
    withSql(async (fixture) => {
      const played = play();
      await connect(life(fixture, { played }));
      const other = life(fixture, { played, owner: "person u_bob" });
      expect(await other.credential({ slug: "s" })).toMatchObject({
        kind: "need",
        need: "connect",
        reason: "sealed",
      });
    }));

  test.for([
    ["issuer", "$.issuer.issuer", "https://other.example"],
    ["account", "$.id", "another-account"],
    ["kind", "$.kind", "client-credentials"],
  ])(
    "U35 does not open for another %s, and that is no crash",
    ([, path = "", value = ""], { expect }) =>
      withSql(async ({ sql, ...fixture }) => {
        const vault = life({ sql, ...fixture }, { played: play() });
        await connect(vault);
        sql.exec("UPDATE accounts_1 SET facts = json_set(facts, ?, ?)", path, value);
        const need = await vault.credential({ slug: "s" });
        // One of another kind is none of this server's.
        const reason = path === "$.kind" ? "not-connected" : "sealed";
        expect(need).toMatchObject({ need: "connect", reason });
      }),
  );

  test("U35 does not open at another server", ({ expect }) =>
    withSql(async ({ sql, ...fixture }) => {
      const played = play();
      await connect(life({ sql, ...fixture }, { played }));
      const facts = "json_set(facts, '$.slug', 't')";
      sql.exec(`INSERT INTO accounts_1 SELECT 't', ${facts}, sealed FROM accounts_1`);
      const vault = life({ sql, ...fixture }, { played, slugs: ["s", "t"] });
      expect(await vault.credential({ slug: "t" })).toMatchObject({ reason: "sealed" });
      expect((await vault.credential({ slug: "s" })).kind).toBe("use");
    }));

  test("U36 opens with every key of the ring, is sealed anew with the first, and with a removed one it is to be connected", ({
    expect,
  }) =>
    withSql(async (fixture) => {
      const played = play();
      const [old, next] = [root("a"), root("b")];
      await connect(life(fixture, { played, roots: [old] }));
      const both = life(fixture, { played, roots: [next, old] });
      expect((await both.credential({ slug: "s" })).kind).toBe("use");
      // It was read, so the old key is not needed any more.
      const without = life(fixture, { played, roots: [next] });
      expect((await without.credential({ slug: "s" })).kind).toBe("use");
      const third = life(fixture, { played, roots: [root("c")] });
      expect(await third.credential({ slug: "s" })).toMatchObject({ reason: "sealed" });
    }));

  test("U36 is to be connected while its key is missing, and as it was when the key is back", ({
    expect,
  }) =>
    withSql(async (fixture) => {
      const played = play();
      await connect(life(fixture, { played }));
      const without = life(fixture, { played, roots: [root("b")] });
      expect(await without.credential({ slug: "s" })).toMatchObject({
        ...{ need: "connect", reason: "sealed" },
      });
      expect(without.isUsable("s")).toBe(false);
      // A later life has asked for no credential yet.
      const later = life(fixture, { played, roots: [root("b")] });
      expect(await later.accounts()).toMatchObject([{ state: "needs-connect", trouble: "sealed" }]);
      const back = life(fixture, { played });
      expect((await back.credential({ slug: "s" })).kind).toBe("use");
      expect(await back.accounts()).toMatchObject([{ state: "connected" }]);
    }));

  test("U36 is renewed once its key is back, and no alarm is set for it before", ({ expect }) =>
    withSql(async (fixture) => {
      let renewals = 0;
      const played = play({
        renew: async () => {
          renewals += 1;
          return { kind: "tokens", tokens: { accessToken: "access-1", expiresInMs: 3_600_000 } };
        },
      });
      await connect(life(fixture, { played }));
      fixture.clock.now += 60 * MINUTE;
      const without = life(fixture, { played, roots: [root("b")] });
      const sealed = { need: "connect", reason: "sealed" };
      expect(await without.credential({ slug: "s" })).toMatchObject(sealed);
      fixture.clock.now += 10 * MINUTE; // the link that it gave out has ended
      expect(await without.sweep()).toBeUndefined();
      expect(renewals).toBe(0);
      const back = life(fixture, { played });
      expect(await back.credential({ slug: "s" })).toMatchObject({ kind: "use", generation: 2 });
    }));

  test("U36 is connected again while its key is missing", ({ expect }) =>
    withSql(async (fixture) => {
      const played = play();
      await connect(life(fixture, { played }));
      const without = life(fixture, { played, roots: [root("b")] });
      await without.credential({ slug: "s" });
      await connect(without);
      expect((await without.credential({ slug: "s" })).kind).toBe("use");
    }));

  test("U61 is listed and can be ended where its server is not configured any more", ({ expect }) =>
    withSql(async (fixture) => {
      const played = play();
      await connect(life(fixture, { played }));
      const later = life(fixture, { played, isUnserved: true });
      expect(await later.accounts()).toMatchObject([{ slug: "s", state: "connected" }]);
      expect(await later.disconnect("s")).toBe("disconnected");
      expect(await later.accounts()).toEqual([]);
    }));

  test("U36 is sealed anew beside a request for a token, which stays written down", ({ expect }) =>
    withSql(async (fixture) => {
      const asked = Promise.withResolvers<void>();
      const played = play({
        renew: () => {
          asked.resolve();
          return new Promise(() => undefined);
        },
      });
      await connect(life(fixture, { played, roots: [root("a")] }));
      const both = life(fixture, { played, roots: [root("b"), root("a")] });
      const used = both.credential({ slug: "s" });
      const accountId = (await both.account("s")) ?? "";
      void both.credential({ slug: "s", refused: { accountId, generation: 1 } });
      await Promise.all([used, asked.promise]);
      const stored = new Accounts(fixture.sql, () => fixture.clock.now).find("s")?.account;
      expect(stored).toMatchObject({ life: "renewing", refusedGeneration: 1 });
      expect(stored?.sent).toBeDefined();
    }));

  test("U36 is sealed anew by the alarm, too", ({ expect }) =>
    withSql(async (fixture) => {
      const played = play();
      await connect(life(fixture, { played, roots: [root("a")] }));
      await life(fixture, { played, roots: [root("b"), root("a")] }).sweep();
      const without = life(fixture, { played, roots: [root("b")] });
      expect((await without.credential({ slug: "s" })).kind).toBe("use");
    }));
});

describe("an account", () => {
  test("U74 is asked for by one link for a server and its scopes, which lasts", ({ expect }) =>
    withSql(async (fixture) => {
      const vault = life(fixture, { played: play() });
      const needs = await Promise.all(
        Array.from({ length: 100 }, () => vault.credential({ slug: "s" })),
      );
      const asks = new Set(needs.map((need) => (need.kind === "need" ? need.ask : "")));
      expect(asks.size).toBe(1);
      expect(fixture.rowsIn("asks_1")).toBe(1);
      fixture.clock.now += 8 * MINUTE;
      expect(await vault.credential({ slug: "s" })).toEqual(needs[0]);
      fixture.clock.now += 8 * MINUTE;
      expect(await vault.credential({ slug: "s" })).toEqual(needs[0]);
    }));

  test("U74 has a hundred links at most, however many scopes are demanded", ({ expect }) =>
    withSql(async (fixture) => {
      const vault = life(fixture, { played: play() });
      await connect(vault);
      const accountId = (await vault.account("s")) ?? "";
      for (let n = 0; n < 1000; n += 1) {
        const challenge = { scope: `scope-${n}` };
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await vault.lacking({ slug: "s", accountId, generation: 1, challenge });
      }
      expect(fixture.rowsIn("asks_1")).toBe(100);
    }));

  test("U74 is begun to be connected so often in ten minutes", ({ expect }) =>
    withSql(async (fixture) => {
      const vault = life(fixture, { played: play() });
      for (let n = 0; n < 20; n += 1) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await begin(vault);
      }
      await expect(begin(vault)).rejects.toThrow("too-many");
      expect(fixture.rowsIn("attempts_1")).toBe(20);
    }));

  test("U39 is not used for another server at the same slug, nor with another pinned issuer", ({
    expect,
  }) =>
    withSql(async (fixture) => {
      const played = play();
      await connect(life(fixture, { played }));
      const elsewhere = new URL("https://elsewhere.example/mcp");
      const other = life(fixture, { played, endpoint: elsewhere });
      expect(await other.credential({ slug: "s" })).toMatchObject({ reason: "moved" });
    }));

  test("U52 U53 that is lacking is asked for with the union of scopes, and refused for good what is beyond", ({
    expect,
  }) =>
    withSql(async (fixture) => {
      const oauth = { ...OAUTH, scopes: ["r"], maxScopes: ["r", "w"] };
      const vault = life(fixture, { played: play(), oauth });
      await connect(vault);
      const accountId = (await vault.account("s")) ?? "";
      const lacking = (scope: string) =>
        vault.lacking({ slug: "s", accountId, generation: 1, challenge: { scope } });
      expect(await lacking("w")).toMatchObject({ need: "scope", reason: "more-scopes" });
      expect((await vault.accounts())[0]?.state).toBe("needs-scope");
      // Other tools of the account go on.
      expect((await vault.credential({ slug: "s" })).kind).toBe("use");
      expect(await lacking("r")).toMatchObject({ need: "forbidden" });
      expect(await lacking("x")).toMatchObject({ need: "operator", reason: "beyond-max-scopes" });
    }));

  test("U52 that was connected again with more scopes is not refused for the token before", ({
    expect,
  }) =>
    withSql(async (fixture) => {
      const vault = life(fixture, { played: play(), oauth: { ...OAUTH, scopes: ["r"] } });
      await connect(vault);
      const accountId = (await vault.account("s")) ?? "";
      const lacking = { slug: "s", accountId, generation: 1, challenge: { scope: "w" } };
      const need = await vault.lacking(lacking);
      await connect(vault, need.kind === "need" ? need.ask : undefined);
      expect((await vault.accounts())[0]?.requested).toEqual(["r", "w"]);
      const other = await vault.lacking(lacking);
      expect(other).toMatchObject({ kind: "use", accountId: await vault.account("s") });
      expect(other).not.toMatchObject({ accountId });
    }));

  test("U52 of the gateway itself gets one new token with the union of scopes", ({ expect }) =>
    withSql(async (fixture) => {
      const requested: (readonly string[])[] = [];
      const renew: Played["renew"] = async (_, account) => {
        requested.push(account.requested);
        return { kind: "tokens", tokens: { accessToken: `access-${requested.length}` } };
      };
      const oauth = { ...OAUTH, scopes: ["r"] };
      const vault = life(fixture, { played: play({ renew }), oauth, kind: "client-credentials" });
      const first = await vault.credential({ slug: "s" });
      if (first.kind !== "use") throw new Error(first.reason);
      fixture.clock.now += MINUTE;
      const lacking = { slug: "s", ...first, challenge: { scope: "w" } };
      const second = await vault.lacking(lacking);
      expect(second).toMatchObject({ kind: "use", generation: first.generation + 1 });
      // One that was sent before the new token was there.
      expect(await vault.lacking(lacking)).toEqual(second);
      expect(requested).toEqual([["r"], ["r", "w"]]);
      const { generation } = second as UsableCredential;
      expect(await vault.lacking({ ...lacking, generation })).toMatchObject({ need: "forbidden" });
    }));

  test("U61 that is disconnected is gone before its tokens are revoked", ({ expect }) =>
    withSql(async (fixture) => {
      const played = play();
      const vault = life(fixture, { played });
      await connect(vault);
      expect(await vault.disconnect("s")).toBe("disconnected");
      expect(fixture.rowsIn("accounts_1")).toBe(0);
      await until(() => played.revoked.length > 0, "the revocation");
      expect(played.revoked).toEqual(["refresh-0"]);
      expect(await vault.credential({ slug: "s" })).toMatchObject({ reason: "not-connected" });
      expect(await vault.disconnect("s")).toBe("none");
    }));

  const HOLDER = { kind: "session", object: "o" } as const;

  test("U61 that ends while its credential is opened is not given out", ({ expect }) =>
    withSql(async (fixture) => {
      const played = play();
      await connect(life(fixture, { played }));
      const keys = Promise.withResolvers<Keyring>();
      const vault = life(fixture, { played, keys: () => keys.promise });
      const asking = vault.credential({ slug: "s" });
      await vault.disconnect("s");
      keys.resolve(await vaultKeyring([root("a")]));
      expect(await asking).toMatchObject({ kind: "need", reason: "not-connected" });
    }));

  test("U61 is told to those that keep something of it, with its credential, before it is revoked", ({
    expect,
  }) =>
    withSql(async (fixture) => {
      const told: unknown[] = [];
      const played = play({
        tell: async (...tell) => void told.push([...tell, [...played.revoked]]),
      });
      const vault = life(fixture, { played });
      await connect(vault);
      const accountId = (await vault.account("s")) ?? "";
      const held = { ...HOLDER, slug: "s", accountId };
      expect(vault.holders.hold(held)).toBe(true);
      await vault.disconnect("s");
      await until(() => played.revoked.length > 0, "the revocation");
      const credential = {
        ...{ kind: "use", accountId, generation: 1 },
        endpoint: "https://server.example/mcp",
        ...{ header: "Authorization", value: "Bearer access-0" },
      };
      expect(told).toEqual([[HOLDER, { slug: "s", accountId, credential }, []]]);
      expect(fixture.rowsIn("holders_1")).toBe(0);
      // Whoever comes too late is told so.
      expect(vault.holders.hold(held)).toBe(false);
    }));

  test("U62 that is replaced is told as ended, and not revoked", ({ expect }) =>
    withSql(async (fixture) => {
      const told: string[] = [];
      const played = play({ tell: async (_, ended) => void told.push(ended.accountId) });
      const vault = life(fixture, { played });
      await connect(vault);
      const accountId = (await vault.account("s")) ?? "";
      vault.holders.hold({ ...HOLDER, slug: "s", accountId });
      await connect(vault);
      await until(() => fixture.rowsIn("holders_1") === 0, "no holder");
      expect(told).toEqual([accountId]);
      expect(played.revoked).toEqual([]);
    }));

  test("U61 is told in a later life to whoever could not be reached, without its credential", ({
    expect,
  }) =>
    withSql(async (fixture) => {
      const told: unknown[] = [];
      const lost = play({ tell: () => Promise.reject(new Error("Restarting")) });
      const vault = life(fixture, { played: lost });
      await connect(vault);
      const accountId = (await vault.account("s")) ?? "";
      vault.holders.hold({ ...HOLDER, slug: "s", accountId });
      await vault.disconnect("s");
      await until(() => lost.revoked.length > 0, "the revocation");
      // Of this life, too: nobody may ask the vault for an hour.
      expect(lost.retries).toEqual([fixture.clock.now + 60_000]);
      const played = play({ tell: async (...tell) => void told.push(tell) });
      const later = life(fixture, { played });
      expect(later.dueAt()).toBe(fixture.clock.now + 60_000);
      await later.sweep();
      expect(told).toEqual([[HOLDER, { slug: "s", accountId }]]);
      expect(fixture.rowsIn("holders_1")).toBe(0);
    }));

  test("U61 is not revoked once another one is connected: that might end it as well", ({
    expect,
  }) =>
    withSql(async (fixture) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const played = play({ tell: () => promise });
      const vault = life(fixture, { played });
      await connect(vault);
      vault.holders.hold({ ...HOLDER, slug: "s", accountId: (await vault.account("s")) ?? "" });
      await vault.disconnect("s");
      await connect(vault);
      resolve();
      await Promise.all(played.work);
      expect(fixture.rowsIn("holders_1")).toBe(0);
      expect(played.revoked).toEqual([]);
    }));

  test("U61 is not told to an object that has ended", ({ expect }) =>
    withSql(async (fixture) => {
      const played = play({ tell: () => Promise.reject(new Error("Told")) });
      const vault = life(fixture, { played });
      await connect(vault);
      vault.holders.hold({ ...HOLDER, slug: "s", accountId: (await vault.account("s")) ?? "" });
      vault.holders.release(HOLDER);
      await vault.disconnect("s");
      await until(() => played.revoked.length > 0, "the revocation");
      expect(fixture.rowsIn("holders_1")).toBe(0);
    }));
});
