/**
 * The judge of grants: whether a grant may bring another token, from the user's record and their
 * provider's answer.
 */

import {
  GrantType,
  OAuthError,
  type TokenExchangeCallbackOptions,
} from "@cloudflare/workers-oauth-provider";
import { describe, test } from "vitest";

import type { IdentityProvider, Recheck } from "../../../../../src/auth/identity/provider.ts";
import { currentUser } from "../../../../../src/auth/store/users.ts";
import { AuditLog } from "../../../../../src/auth/store/audit-log.ts";
import { type User, Users } from "../../../../../src/auth/store/users.ts";
import { GrantJudge, upkeepPurpose } from "../../../../../src/auth/oauth/grants/grant-judge.ts";
import type { Grant } from "../../../../../src/auth/oauth/grants/grants.ts";
import { importKey, type Keyring, seal, unseal } from "../../../../../src/lib/seal.ts";
import { withSql } from "../../../lib/sql-fixture.ts";
import { until } from "../../../../support/until.ts";

interface Fixture {
  readonly judge: GrantJudge;
  /** The judge after a restart: it knows only what was stored. */
  readonly newLife: () => GrantJudge;
  readonly users: Users;
  readonly audit: AuditLog;
  readonly ring: Keyring;
  /** The provider's next answers, and the requests that it got, in order. */
  answer: Recheck | Promise<Recheck>;
  readonly asked: (string | undefined)[];
  /** The users who were signed out by their provider. */
  readonly ended: string[];
  readonly clock: { now: number };
}

const USER: Omit<User, "isDisabled" | "createdAt" | "seenAt"> = {
  ...{
    id: "u_1",
    provider: "idp",
    email: "root@idp.example",
    issuer: "https://idp.example",
    subject: "1",
  },
};

const MAX_UNPROVEN_MS = 86_400_000;
const MAX_AGE_MS = 180 * 86_400_000;
const GRANT: Omit<Grant, "createdAt"> = {
  ...{ id: "g", client: "c", resource: "r", redirectUri: "u", scopes: ["mcp"], name: "n" },
};

function withJudge<T>(act: (fixture: Fixture) => Promise<T>): Promise<T> {
  return withSql(async ({ sql, clock }) => {
    const users = new Users(sql, () => clock.now);
    const audit = new AuditLog(sql, () => clock.now);
    const ring = { currentId: "k", keys: new Map([["k", await importKey(new Uint8Array(32))]]) };
    const asked: (string | undefined)[] = [];
    const createdAt = clock.now;
    const ended: string[] = [];
    const newJudge = (): GrantJudge =>
      new GrantJudge({
        ...{ users, audit, ring: () => Promise.resolve(ring), now: () => clock.now },
        grants: { find: () => ({ ...GRANT, createdAt }), codeMacOf: () => undefined },
        currentUser: (id, codeMac) => currentUser({ providers }, users.find(id), codeMac),
        ...{ maxAgeMs: MAX_AGE_MS, maxUnprovenMs: MAX_UNPROVEN_MS },
        onEnded: (user) => ended.push(user),
        providerOf: (name) => (name === "idp" ? provider : undefined),
      });
    const fixture: Fixture = {
      ...{ users, audit, ring, asked, ended, clock, answer: { kind: "alive" } },
      ...{ judge: newJudge(), newLife: newJudge },
    };
    const provider = {
      recheck: (upkeep: string | undefined) => {
        asked.push(upkeep);
        return Promise.resolve(fixture.answer);
      },
      standing: async ({ email }: User) => ({ isAdmin: email === USER.email }),
    } as unknown as IdentityProvider;
    const providers = new Map([["idp", provider]]);
    users.signedIn({ ...USER, upkeep: await seal(ring, upkeepPurpose(USER.id), "first") });
    return act(fixture);
  });
}

function asking(
  scopes: readonly string[] = ["mcp"],
  grantType: GrantType = GrantType.REFRESH_TOKEN,
): TokenExchangeCallbackOptions<unknown> {
  return {
    userId: USER.id,
    grantId: GRANT.id,
    requestedScope: [...scopes],
    grantType,
  } as unknown as TokenExchangeCallbackOptions<unknown>;
}

async function refusal(judging: Promise<unknown>): Promise<unknown> {
  try {
    return await judging;
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const { statusCode: status, headers } = error.options;
    return { error: error.code, status, headers };
  }
}

describe("a refresh", () => {
  test("asks the provider, once for all that ask together", async ({ expect }) => {
    await withJudge(async ({ judge, asked }) => {
      const both = await Promise.all([judge.judge(asking()), judge.judge(asking(["mcp:a"]))]);
      expect(both).toEqual([{ accessTokenScope: ["mcp"] }, { accessTokenScope: ["mcp:a"] }]);
      expect(asked).toEqual(["first"]);
      await judge.judge(asking());
      expect(asked).toEqual(["first", "first"]);
    });
  });

  test("is not for ever: the person signs in again after half a year", async ({ expect }) => {
    await withJudge(async ({ judge, asked, clock }) => {
      clock.now += MAX_AGE_MS - 1;
      expect(await judge.judge(asking())).toEqual({ accessTokenScope: ["mcp"] });
      clock.now += 1;
      expect(await refusal(judge.judge(asking()))).toMatchObject({ error: "invalid_grant" });
      expect(asked).toHaveLength(1);
    });
  });

  test("in a loop does not reach the provider more than thirty times a minute", async ({
    expect,
  }) => {
    await withJudge(async ({ judge, asked, clock }) => {
      for (let n = 0; n < 30; n++) await judge.judge(asking());
      const refused = { error: "temporarily_unavailable", status: 429 };
      expect(await refusal(judge.judge(asking()))).toMatchObject(refused);
      expect(judge.refusalOf(GRANT.id)).toBe("limited");
      expect(asked).toHaveLength(30);
      clock.now += 2000;
      expect(await judge.judge(asking())).toEqual({ accessTokenScope: ["mcp"] });
    });
  });

  const OLDER: readonly Recheck[] = [
    {
      kind: "alive",
      upkeep: "older",
      identity: {
        issuer: USER.issuer,
        subject: USER.subject,
        email: "older@idp.example",
        isAdmin: false,
      },
    },
    { kind: "ended", detail: "The older sign-in has ended." },
    { kind: "unavailable", upkeep: "older" },
  ];
  test.for(OLDER)(
    "leaves what a newer sign-in has brought, when the answer is $kind",
    async (older, { expect }) => {
      await withJudge(async (fixture) => {
        const { judge, users, ring, asked, ended, audit } = fixture;
        const newer = await seal(ring, upkeepPurpose(USER.id), "newer");
        const answer = Promise.withResolvers<Recheck>();
        fixture.answer = answer.promise;
        const judging = judge.judge(asking());
        await expect.poll(() => asked).toHaveLength(1);
        users.signedIn({ ...USER, upkeep: newer });
        const known = users.find(USER.id);
        answer.resolve(older);
        expect(await judging).toEqual({ accessTokenScope: ["mcp"] });
        expect(users.find(USER.id)).toEqual(known);
        expect([ended, audit.list(USER.id)]).toEqual([[], []]);
      });
    },
  );

  test("keeps what the provider wants to be asked with the next time", async ({ expect }) => {
    await withJudge(async (fixture) => {
      const { judge, asked, clock, users, ring } = fixture;
      fixture.answer = { kind: "alive", upkeep: "second" };
      await judge.judge(asking());
      const { upkeep = "" } = users.find(USER.id) ?? {};
      expect(upkeep).not.toContain("second");
      expect(await unseal(ring, upkeepPurpose(USER.id), upkeep)).toBe("second");
      expect(await unseal(ring, upkeepPurpose("u_2"), upkeep)).toBeUndefined();
      clock.now += 60_000;
      await judge.judge(asking());
      expect(asked).toEqual(["first", "second"]);
    });
  });

  test("ends with the sign-in at the provider, and is logged", async ({ expect }) => {
    await withJudge(async (fixture) => {
      fixture.answer = { kind: "ended", detail: "x" };
      expect(await refusal(fixture.judge.judge(asking()))).toMatchObject({
        error: "invalid_grant",
      });
      expect(fixture.ended).toEqual([USER.id]);
      const [entry] = fixture.audit.list(USER.id);
      expect(entry).toMatchObject({ event: "provider_ended", detail: { provider: "idp" } });
    });
  });

  test("waits for a provider that cannot be asked, and is not ended by it", async ({ expect }) => {
    await withJudge(async (fixture) => {
      fixture.answer = { kind: "unavailable" };
      const all = [1, 2, 3].map(() => refusal(fixture.judge.judge(asking())));
      const headers = { "Retry-After": "30" };
      const passing = { error: "temporarily_unavailable", status: 503, headers };
      expect(await Promise.all(all)).toEqual([passing, passing, passing]);
      expect(fixture.judge.refusalOf(GRANT.id)).toBe("provider-unreachable");
      expect([fixture.asked.length, fixture.ended]).toEqual([1, []]);
      fixture.answer = { kind: "alive" };
      expect(await fixture.judge.judge(asking())).toEqual({ accessTokenScope: ["mcp"] });
    });
  });

  test("keeps a new refresh token of a provider that then fails to say who the person is", async ({
    expect,
  }) => {
    await withJudge(async (fixture) => {
      const { judge, asked, users, ring, ended } = fixture;
      fixture.answer = { kind: "unavailable", upkeep: "second" };
      const refused = { error: "temporarily_unavailable", status: 503 };
      expect(await refusal(judge.judge(asking()))).toMatchObject(refused);
      const { upkeep = "", askedAt } = users.find(USER.id) ?? {};
      expect(await unseal(ring, upkeepPurpose(USER.id), upkeep)).toBe("second");
      expect(askedAt).toBeUndefined();
      fixture.answer = { kind: "alive" };
      expect(await judge.judge(asking())).toEqual({ accessTokenScope: ["mcp"] });
      expect([asked, ended]).toEqual([["first", "second"], []]);
    });
  });

  test("ends when the provider is no longer configured", async ({ expect }) => {
    await withJudge(async ({ judge, users }) => {
      users.change(USER.id, { provider: "gone" });
      expect(await refusal(judge.judge(asking()))).toMatchObject({ error: "invalid_grant" });
    });
  });

  test("takes the role as the provider states it now", async ({ expect }) => {
    await withJudge(async (fixture) => {
      const { judge, clock } = fixture;
      expect(await judge.judge(asking(["admin"]))).toEqual({ accessTokenScope: ["admin"] });
      const email = "somebody@idp.example";
      const identity = { issuer: USER.issuer, subject: USER.subject, email, isAdmin: false };
      fixture.answer = { kind: "alive", identity };
      clock.now += 60_000;
      expect(await judge.judge(asking(["mcp", "admin"]))).toEqual({ accessTokenScope: ["mcp"] });
      expect(await refusal(judge.judge(asking(["admin"])))).toMatchObject({
        error: "invalid_scope",
      });
    });
  });

  test("of a user who was disabled while the provider was asked brings nothing", async ({
    expect,
  }) => {
    await withJudge(async (fixture) => {
      const { judge, users, asked } = fixture;
      const answer = Promise.withResolvers<Recheck>();
      fixture.answer = answer.promise;
      const judged = refusal(judge.judge(asking()));
      await expect.poll(() => asked).toHaveLength(1);
      users.change(USER.id, { isDisabled: true });
      answer.resolve({ kind: "alive" });
      expect(await judged).toMatchObject({ error: "invalid_grant" });
      expect(users.find(USER.id)).toMatchObject({ isDisabled: true });
    });
  });
});

/** As when the process dies while the provider answers: nothing of the answer is written down. */
async function dieWhileAsking(fixture: Fixture): Promise<void> {
  const { judge, asked } = fixture;
  fixture.answer = new Promise(() => undefined);
  const before = asked.length;
  judge.judge(asking()).catch(() => undefined);
  await until(() => asked.length > before, "the provider to be asked");
}

describe("a provider that replaces its refresh token, and an answer that is lost", () => {
  const refusesToken: Recheck = { kind: "ended", detail: "x", isTokenRefused: true };

  test("end no sign-in, for a day after the provider last stood by it", async ({ expect }) => {
    await withJudge(async (fixture) => {
      const { clock, ended, audit } = fixture;
      clock.now += 60_000;
      await fixture.judge.judge(asking());
      await dieWhileAsking(fixture);
      fixture.answer = refusesToken;
      const revived = fixture.newLife();
      expect(await revived.judge(asking())).toEqual({ accessTokenScope: ["mcp"] });
      expect(ended).toEqual([]);
      expect(audit.list(USER.id)[0]).toMatchObject({ event: "provider_answer_lost" });
      clock.now += MAX_UNPROVEN_MS - 1;
      expect(await revived.judge(asking())).toEqual({ accessTokenScope: ["mcp"] });
      clock.now += 1;
      expect(await refusal(revived.judge(asking()))).toMatchObject({ error: "invalid_grant" });
      expect(ended).toEqual([USER.id]);
    });
  });

  test("are forgotten when the provider answers again, or the person signs in", async ({
    expect,
  }) => {
    for (const heal of [
      async (fixture: Fixture): Promise<void> => {
        fixture.answer = { kind: "alive", upkeep: "second" };
        await fixture.newLife().judge(asking());
      },
      async (fixture: Fixture): Promise<void> => {
        fixture.answer = { kind: "unavailable", upkeep: "second" };
        await refusal(fixture.newLife().judge(asking()));
      },
      async ({ users, ring }: Fixture): Promise<void> => {
        const upkeep = await seal(ring, upkeepPurpose(USER.id), "newer");
        users.signedIn({ ...USER, upkeep });
      },
    ]) {
      await withJudge(async (fixture) => {
        await dieWhileAsking(fixture);
        await heal(fixture);
        fixture.answer = refusesToken;
        const refused = await refusal(fixture.newLife().judge(asking()));
        expect([refused, fixture.ended]).toMatchObject([{ error: "invalid_grant" }, [USER.id]]);
      });
    }
  });

  test("do not keep a user whom the provider refuses for another reason", async ({ expect }) => {
    await withJudge(async (fixture) => {
      await dieWhileAsking(fixture);
      fixture.answer = { kind: "ended", detail: "Not on the list." };
      const refused = await refusal(fixture.newLife().judge(asking()));
      expect([refused, fixture.ended]).toMatchObject([{ error: "invalid_grant" }, [USER.id]]);
    });
  });

  test("are none of an answer that came: a provider that was out of reach has replaced nothing", async ({
    expect,
  }) => {
    await withJudge(async (fixture) => {
      fixture.answer = { kind: "unavailable" };
      await refusal(fixture.judge.judge(asking()));
      fixture.answer = refusesToken;
      await refusal(fixture.judge.judge(asking()));
      expect(fixture.ended).toEqual([USER.id]);
    });
  });
});

describe("a code", () => {
  test("is redeemed without asking: the sign-in was a moment ago", async ({ expect }) => {
    await withJudge(async ({ judge, asked }) => {
      const code = asking(["mcp"], GrantType.AUTHORIZATION_CODE);
      expect(await judge.judge(code)).toEqual({ accessTokenScope: ["mcp"] });
      expect(asked).toEqual([]);
    });
  });

  test("of a user who is disabled or unknown is not", async ({ expect }) => {
    await withJudge(async ({ judge, users }) => {
      const code = asking(["mcp"], GrantType.AUTHORIZATION_CODE);
      users.change(USER.id, { isDisabled: true });
      expect(await refusal(judge.judge(code))).toMatchObject({ error: "invalid_grant" });
      const other = { ...code, userId: "u_2" };
      expect(await refusal(judge.judge(other))).toMatchObject({ error: "invalid_grant" });
    });
  });
});
