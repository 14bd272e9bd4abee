/**
 * A provider may stand by a sign-in or not (2025-03-26, third-party flow): its refusal ends the
 * sign-in, its outage ends nothing, and no refresh token is ever lost.
 */

import { describe, test } from "vitest";

import { NO_ONE_ALLOWED } from "../../../../src/auth/identity/allow-list.ts";
import { GOOGLE, STANDARD } from "../../../../src/auth/identity/oidc-traits.ts";
import type { OidcProvider } from "../../../../src/auth/identity/oidc.ts";
import type { KnownIdentity, Recheck } from "../../../../src/auth/identity/provider.ts";
import { CLIENT_ID, FakeOidc, ISSUER, now, providerAt, signed, signIn } from "./fake-oidc.ts";

const ann: KnownIdentity = { issuer: ISSUER, subject: "ann", email: "ann@example.com" };

async function signedIn(fake: FakeOidc, provider: OidcProvider): Promise<string> {
  const result = await signIn(fake, provider);
  if (result.kind === "refused" || result.upkeep === undefined) throw new Error("not signed in");
  fake.nonce = undefined;
  fake.seen.length = 0;
  return result.upkeep;
}

/** Signs in, lets the test change the provider, and asks again. */
async function recheckAfter(
  change: (fake: FakeOidc) => void,
  {
    config = {},
    known = ann,
  }: { config?: Parameters<typeof providerAt>[1]; known?: KnownIdentity } = {},
): Promise<{ verdict: Recheck; fake: FakeOidc }> {
  const fake = new FakeOidc();
  const provider = providerAt(fake, config);
  const upkeep = await signedIn(fake, provider);
  change(fake);
  return { verdict: await provider.recheck(upkeep, known), fake };
}

const refreshTokenOf = (verdict: Recheck): unknown =>
  verdict.kind === "ended" ? verdict.kind : JSON.parse(verdict.upkeep ?? "{}").refreshToken;

const tokenError = (error: string) => (fake: FakeOidc) => {
  fake.answers.set("/token", () => Response.json({ error }, { status: 400 }));
};

const onlyUserinfo = (userinfo: Record<string, unknown>) => (fake: FakeOidc) => {
  fake.idToken = undefined;
  fake.userinfo = userinfo;
};

const withoutIdToken = (fake: FakeOidc): void => {
  fake.idToken = undefined;
};
const withoutKeys = (fake: FakeOidc): void => {
  fake.answers.set("/jwks", () => new Response("", { status: 503 }));
};

describe("with a refresh token", () => {
  test("the provider renews it", async ({ expect }) => {
    const { verdict, fake } = await recheckAfter((fake) => {
      fake.claims = { name: "Ann Married" };
      fake.tokens = { refresh_token: "refresh-2" };
    });
    expect(verdict).toMatchObject({
      kind: "alive",
      identity: { ...ann, name: "Ann Married", isAdmin: false },
    });
    expect(refreshTokenOf(verdict)).toBe("refresh-2");
    const { form } = fake.seen.find(({ path }) => path === "/token") ?? expect.fail();
    expect(Object.fromEntries(form)).toEqual({
      grant_type: "refresh_token",
      refresh_token: "refresh-1",
    });
  });

  test("which is kept when no other comes", async ({ expect }) => {
    const { verdict } = await recheckAfter((fake) => {
      fake.tokens = {};
    });
    expect(refreshTokenOf(verdict)).toBe("refresh-1");
  });

  test.for(["invalid_grant", "interaction_required", "login_required", "access_denied"])(
    "%s ends the sign-in",
    async (error, { expect }) => {
      const { verdict } = await recheckAfter(tokenError(error));
      expect(verdict.kind).toBe("ended");
    },
  );

  test.for(["invalid_client", "temporarily_unavailable", "server_error", "something_new"])(
    "%s ends nothing",
    async (error, { expect }) => {
      const { verdict } = await recheckAfter(tokenError(error));
      expect(verdict.kind).toBe("unavailable");
    },
  );

  test.for([500, 502, 503, 429])("HTTP %i ends nothing", async (status, { expect }) => {
    const { verdict } = await recheckAfter((fake) => {
      fake.answers.set("/token", () => new Response("", { status }));
    });
    expect(verdict.kind).toBe("unavailable");
  });

  test("no connection ends nothing", async ({ expect }) => {
    const { verdict } = await recheckAfter((fake) => {
      fake.answers.set("/token", () => Promise.reject(new TypeError("connection refused")));
    });
    expect(verdict.kind).toBe("unavailable");
  });

  test("an ID token of another person ends the sign-in", async ({ expect }) => {
    const { verdict } = await recheckAfter((fake) => {
      fake.claims = { sub: "eve" };
    });
    expect(verdict.kind).toBe("ended");
  });

  test("a forged ID token confirms nothing, and a new refresh token is not lost", async ({
    expect,
  }) => {
    const { verdict } = await recheckAfter((fake) => {
      fake.tokens = { refresh_token: "refresh-2" };
      fake.idToken = (claims) => signed(claims, {}, true);
    });
    expect(verdict.kind).toBe("unavailable");
    expect(refreshTokenOf(verdict)).toBe("refresh-2");
  });

  test("a person who is no longer on the list is refused", async ({ expect }) => {
    const lists: readonly (readonly [object, Record<string, unknown>])[] = [
      [{ emails: ["ann@example.com"] }, { email: "ann@other.example" }],
      [{ emails: ["ann@example.com"] }, { email_verified: false }],
      [{ domains: ["example.com"] }, { email: "ann@sub.example.com" }],
      [{ groups: ["mcp"] }, { groups: ["staff"] }],
      [{ groups: ["mcp"] }, { groups: undefined }],
    ];
    for (const [list, claims] of lists) {
      const fake = new FakeOidc();
      fake.claims = { groups: ["mcp"] };
      const provider = providerAt(fake, { allow: { ...NO_ONE_ALLOWED, ...list } });
      const upkeep = await signedIn(fake, provider);
      expect((await provider.recheck(upkeep, ann)).kind).toBe("alive");
      fake.claims = { groups: ["mcp"], ...claims };
      expect((await provider.recheck(upkeep, ann)).kind, JSON.stringify(claims)).toBe("ended");
    }
  });

  test("an address that a refresh leaves out is as it was", async ({ expect }) => {
    const fake = new FakeOidc();
    fake.metadata = { userinfo_endpoint: undefined };
    const provider = providerAt(fake);
    const upkeep = await signedIn(fake, provider);
    fake.claims = { email: undefined, email_verified: undefined };
    expect(await provider.recheck(upkeep, ann)).toMatchObject({ kind: "alive", identity: ann });
  });

  test("an address that the provider no longer knows ends the sign-in", async ({ expect }) => {
    const { verdict } = await recheckAfter((fake) => {
      fake.claims = { email: undefined, email_verified: undefined };
      fake.userinfo = { name: "Ann" };
    });
    expect(verdict).toEqual({
      kind: "ended",
      detail: expect.stringMatching(/not among those .* no address/),
    });
  });

  test("without an ID token, the userinfo endpoint decides who may stay", async ({ expect }) => {
    const fine = { email: "ann@example.com", email_verified: true };
    expect((await recheckAfter(onlyUserinfo(fine))).verdict).toMatchObject({ kind: "alive" });
    const moved = { email: "ann@other.example", email_verified: true };
    expect((await recheckAfter(onlyUserinfo(moved))).verdict.kind).toBe("ended");
    expect((await recheckAfter(onlyUserinfo({ ...fine, sub: "eve" }))).verdict.kind).toBe(
      "unavailable",
    );
  });

  const UNSAID = [
    ["a group, and no ID token comes", STANDARD, { groups: ["mcp"] }, withoutIdToken],
    ["a group, and the keys are out of reach", STANDARD, { groups: ["mcp"] }, withoutKeys],
    ["a domain, and no ID token comes", GOOGLE, { domains: ["example.com"] }, withoutIdToken],
    ["a domain, and the keys are out of reach", GOOGLE, { domains: ["example.com"] }, withoutKeys],
  ] as const;
  test.for(UNSAID)(
    "nothing ends where what decides is %s",
    async ([, traits, list, change], { expect }) => {
      const provider = (): OidcProvider =>
        providerAt(fake, { allow: { ...NO_ONE_ALLOWED, ...list } }, traits);
      const fake = new FakeOidc();
      fake.claims = { groups: ["mcp"], hd: "example.com" };
      const upkeep = await signedIn(fake, provider());
      fake.tokens = { refresh_token: "refresh-2" };
      fake.userinfo = { email: "ann@example.com", email_verified: true };
      change(fake);
      const verdict = await provider().recheck(upkeep, ann);
      expect(verdict.kind).toBe("unavailable");
      expect(refreshTokenOf(verdict)).toBe("refresh-2");
    },
  );

  test("a group that userinfo names decides, also without an ID token", async ({ expect }) => {
    const fake = new FakeOidc();
    fake.claims = { groups: ["mcp"] };
    const provider = providerAt(fake, { allow: { ...NO_ONE_ALLOWED, groups: ["mcp"] } });
    const upkeep = await signedIn(fake, provider);
    withoutIdToken(fake);
    fake.userinfo = { groups: ["mcp"] };
    expect((await provider.recheck(upkeep, ann)).kind).toBe("alive");
    fake.userinfo = { groups: ["staff"] };
    expect((await provider.recheck(upkeep, ann)).kind).toBe("ended");
  });

  test("a new one is not lost when the userinfo endpoint is out of reach", async ({ expect }) => {
    const { verdict } = await recheckAfter((fake) => {
      fake.tokens = { refresh_token: "refresh-2" };
      fake.claims = { email: undefined, email_verified: undefined };
      fake.answers.set("/userinfo", () => new Response("", { status: 503 }));
    });
    expect(verdict).not.toHaveProperty("identity");
    expect(refreshTokenOf(verdict)).toBe("refresh-2");
  });

  const BROKEN: readonly (readonly [string, () => Response])[] = [
    ["HTTP 404", () => new Response("", { status: 404 })],
    ["HTTP 400", () => Response.json({ error: "invalid_request" }, { status: 400 })],
    ["a page", () => new Response("<p>Maintenance", { headers: { "Content-Type": "text/html" } })],
    ["another person's answer", () => Response.json({ sub: "eve" })],
  ];
  test.for(BROKEN)(
    "a new one is not lost when the userinfo endpoint answers with %s",
    async ([, answer], { expect }) => {
      const { verdict } = await recheckAfter((fake) => {
        fake.tokens = { refresh_token: "refresh-2" };
        fake.claims = { email: undefined, email_verified: undefined };
        fake.answers.set("/userinfo", answer);
      });
      expect(verdict.kind).toBe("unavailable");
      expect(refreshTokenOf(verdict)).toBe("refresh-2");
    },
  );

  test("a new one is not lost when there are no keys at their address", async ({ expect }) => {
    const fake = new FakeOidc();
    const upkeep = await signedIn(fake, providerAt(fake));
    fake.tokens = { refresh_token: "refresh-2" };
    fake.answers.set("/jwks", () => new Response("", { status: 404 }));
    const verdict = await providerAt(fake).recheck(upkeep, ann);
    expect(verdict.kind).toBe("unavailable");
    expect(refreshTokenOf(verdict)).toBe("refresh-2");
  });

  test("a new one is not lost when the keys are out of reach", async ({ expect }) => {
    const fake = new FakeOidc();
    const upkeep = await signedIn(fake, providerAt(fake));
    fake.tokens = { refresh_token: "refresh-2" };
    // What cannot be verified is not believed.
    fake.claims = { sub: "eve" };
    fake.userinfo = { email: "ann@example.com", email_verified: true };
    fake.answers.set("/jwks", () => new Response("", { status: 503 }));
    const verdict = await providerAt(fake).recheck(upkeep, ann);
    expect(verdict).toMatchObject({ kind: "alive", identity: ann });
    expect(refreshTokenOf(verdict)).toBe("refresh-2");
  });
});

describe("without a refresh token", () => {
  const withoutRefresh = { tokens: {} };

  async function recheckAccess(change: (fake: FakeOidc) => void, tokens: object = {}) {
    const fake = new FakeOidc();
    fake.tokens = { ...withoutRefresh.tokens, ...tokens };
    const provider = providerAt(fake);
    const upkeep = await signedIn(fake, provider);
    fake.userinfo = { email: "ann@example.com", email_verified: true };
    change(fake);
    return { verdict: await provider.recheck(upkeep, ann), fake };
  }

  test("the userinfo endpoint is asked", async ({ expect }) => {
    const { verdict, fake } = await recheckAccess(() => undefined);
    expect(verdict).toMatchObject({ kind: "alive", identity: ann });
    expect(fake.seen.map(({ path }) => path)).toEqual(["/userinfo"]);
  });

  test.for([401, 403])("HTTP %i there ends the sign-in", async (status, { expect }) => {
    const { verdict } = await recheckAccess((fake) => {
      const headers = { "WWW-Authenticate": 'Bearer error="invalid_token"' };
      fake.answers.set("/userinfo", () => new Response("", { status, headers }));
    });
    expect(verdict.kind).toBe("ended");
  });

  test("an outage there ends nothing", async ({ expect }) => {
    const { verdict } = await recheckAccess((fake) => {
      fake.answers.set("/userinfo", () => new Response("", { status: 500 }));
    });
    expect(verdict.kind).toBe("unavailable");
  });

  test("the end of the access token is the end of the sign-in", async ({ expect }) => {
    const { verdict, fake } = await recheckAccess(() => undefined, { expires_in: 0 });
    expect(verdict.kind).toBe("ended");
    expect(fake.seen).toEqual([]);
  });
});

describe("the stored data", () => {
  test.for([undefined, "", "{}", "no JSON", '{"refreshToken":"x"}'])(
    "as %j ends the sign-in",
    async (upkeep, { expect }) => {
      expect((await providerAt(new FakeOidc()).recheck(upkeep, ann)).kind).toBe("ended");
    },
  );

  test("of an issuer that is not configured now ends the sign-in", async ({ expect }) => {
    const known = { ...ann, issuer: "https://earlier.example.com" };
    const { verdict, fake } = await recheckAfter(() => undefined, { known });
    expect(verdict.kind).toBe("ended");
    expect(fake.seen).toEqual([]);
  });
});

test("the tests' provider answers as it is meant to", async ({ expect }) => {
  const fake = new FakeOidc();
  expect(fake.idTokenClaims()).toMatchObject({ aud: CLIENT_ID, iss: ISSUER });
  expect(fake.idTokenClaims().exp).toBeGreaterThan(now());
});
