/** The recheck of a sign-in at GitHub. */

import { describe, test } from "vitest";

import type { Recheck } from "../../../../src/auth/identity/provider.ts";
import { ann, byId, FakeGitHub, providerAt, upkeepOf } from "./fake-github.ts";

const tokensIn = (verdict: Recheck): unknown =>
  verdict.kind === "ended" ? verdict.kind : JSON.parse(verdict.upkeep ?? "{}");

async function recheckAfter(change: (fake: FakeGitHub) => void, allow: object = byId) {
  const fake = new FakeGitHub();
  const provider = providerAt(fake, allow);
  const upkeep = await upkeepOf(provider);
  fake.seen.length = 0;
  change(fake);
  return { verdict: await provider.recheck(upkeep, ann), fake };
}

describe("GitHubProvider.recheck()", () => {
  test("asks for the person, and for nothing that no rule looks at", async ({ expect }) => {
    const { verdict, fake } = await recheckAfter(() => undefined);
    expect(verdict).toMatchObject({ kind: "alive", identity: { ...ann, name: "Ann" } });
    expect(fake.seen.map(({ path }) => path)).toEqual(["/user"]);
  });

  const ends: readonly (readonly [string, (fake: FakeGitHub) => void, object])[] = [
    [
      "a withdrawn token",
      (fake) => void fake.answers.set("/user", () => Response.json({}, { status: 401 })),
      byId,
    ],
    [
      "a suspended account",
      (fake) => void fake.answers.set("/user", () => Response.json({}, { status: 403 })),
      byId,
    ],
    [
      "another account",
      (fake) => void fake.answers.set("/user", () => Response.json({ id: 1, login: "ann" })),
      { emails: ["ann@example.com"] },
    ],
    [
      "a membership that ended",
      (fake) => void fake.answers.delete("/user/memberships/orgs/acme"),
      { organizations: ["acme"] },
    ],
    [
      "an address that is another's now",
      (fake) => void fake.answers.set("/user/emails", () => Response.json([])),
      { emails: ["ann@example.com"] },
    ],
  ];
  test.for(ends)("%s ends the sign-in", async ([, change, allow], { expect }) => {
    expect((await recheckAfter(change, allow)).verdict.kind).toBe("ended");
  });

  test.for([500, 429])("HTTP %i ends nothing", async (status, { expect }) => {
    const { verdict } = await recheckAfter((fake) => {
      fake.answers.set("/user", () => new Response("", { status }));
    });
    expect(verdict.kind).toBe("unavailable");
  });

  test("renews a token that expires, and keeps the new one whatever else fails", async ({
    expect,
  }) => {
    const fake = new FakeGitHub();
    const provider = providerAt(fake, byId);
    fake.token = { access_token: "ghu_1", refresh_token: "ghr_1", expires_in: 0 };
    const upkeep = await upkeepOf(provider);
    fake.seen.length = 0;
    fake.token = { access_token: "ghu_2", refresh_token: "ghr_2", expires_in: 28_800 };
    const renewed = { accessToken: "ghu_2", refreshToken: "ghr_2" };
    const verdict = await provider.recheck(upkeep, ann);
    expect(verdict).toMatchObject({ kind: "alive", identity: ann });
    expect(tokensIn(verdict)).toMatchObject(renewed);
    expect(Object.fromEntries(fake.seen[0]?.form ?? [])).toMatchObject({
      grant_type: "refresh_token",
      refresh_token: "ghr_1",
    });
    fake.answers.set("/user", () => new Response("", { status: 500 }));
    const blind = await provider.recheck(upkeep, ann);
    expect(blind.kind).toBe("alive");
    expect(tokensIn(blind)).toMatchObject(renewed);
    for (const answer of [new Response("", { status: 404 }), new Response("<p>Maintenance")]) {
      fake.answers.set("/user", () => answer);
      const unread = await provider.recheck(upkeep, ann);
      expect(unread.kind).toBe("unavailable");
      expect(tokensIn(unread)).toMatchObject(renewed);
    }
    fake.answers.set("/user", () => Response.json({}, { status: 401 }));
    expect((await provider.recheck(upkeep, ann)).kind).toBe("ended");
    fake.token = { error: "bad_refresh_token" };
    expect((await provider.recheck(upkeep, ann)).kind).toBe("ended");
    fake.token = { error: "incorrect_client_credentials" };
    expect((await provider.recheck(upkeep, ann)).kind).toBe("unavailable");
  });

  test("of what was not kept, or of another GitHub, ends the sign-in", async ({ expect }) => {
    const provider = providerAt(new FakeGitHub(), byId);
    const upkeep = await upkeepOf(provider);
    expect((await provider.recheck(undefined, ann)).kind).toBe("ended");
    const elsewhere = { ...ann, issuer: "https://github.example.com" };
    expect((await provider.recheck(upkeep, elsewhere)).kind).toBe("ended");
  });
});
