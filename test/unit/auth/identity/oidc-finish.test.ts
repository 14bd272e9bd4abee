/** Sign-in by OpenID Connect: the person who came back, and the claims that are believed. */

import { describe, test } from "vitest";

import { NO_ONE_ALLOWED } from "../../../../src/auth/identity/allow-list.ts";
import { CALLBACK, FakeOidc, ISSUER, now, providerAt, reasonOf, signIn } from "./fake-oidc.ts";

const anyone = { allow: { ...NO_ONE_ALLOWED, subjects: ["ann"] } };

describe("OidcProvider.finish()", () => {
  test("knows the person by issuer and subject", async ({ expect }) => {
    const fake = new FakeOidc();
    const result = await signIn(fake, providerAt(fake, { admins: ["ANN@example.com"] }));
    expect(result).toMatchObject({
      kind: "identity",
      identity: {
        issuer: ISSUER,
        subject: "ann",
        name: "Ann",
        email: "ann@example.com",
        isAdmin: true,
      },
      authTime: 0,
    });
  });

  test("redeems the code with the verifier and the callback", async ({ expect }) => {
    const fake = new FakeOidc();
    await signIn(fake, providerAt(fake));
    const { form, headers } = fake.seen.find(({ path }) => path === "/token") ?? expect.fail();
    expect(Object.fromEntries(form)).toEqual({
      grant_type: "authorization_code",
      code: "code-1",
      redirect_uri: CALLBACK,
      code_verifier: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(headers.get("authorization")).toMatch(/^Basic /);
  });

  const methods: readonly { name: string; methods?: string[]; secret?: string; sent: string[] }[] =
    [
      {
        name: "Basic",
        methods: ["client_secret_post", "client_secret_basic"],
        secret: "s",
        sent: [],
      },
      {
        name: "a field",
        methods: ["client_secret_post"],
        secret: "s",
        sent: ["client_id", "client_secret"],
      },
      { name: "nothing", sent: ["client_id"] },
    ];
  test.for(methods)("proves who it is by $name", async ({ methods, secret, sent }, { expect }) => {
    const fake = new FakeOidc();
    fake.metadata = { token_endpoint_auth_methods_supported: methods };
    await signIn(fake, providerAt(fake, { clientSecret: secret }));
    const form = fake.seen.find(({ path }) => path === "/token")?.form ?? expect.fail();
    const fields = ["client_id", "client_secret"].filter((field) => form.has(field));
    expect(fields).toEqual(sent);
  });

  test("takes what the token leaves out from the userinfo endpoint", async ({ expect }) => {
    const fake = new FakeOidc();
    fake.claims = { email: undefined, email_verified: undefined, name: undefined };
    fake.userinfo = { email: "ann@example.com", email_verified: true, name: "Ann U." };
    expect(await signIn(fake, providerAt(fake))).toMatchObject({
      identity: { name: "Ann U.", email: "ann@example.com" },
    });
    const asked = fake.seen.find(({ path }) => path === "/userinfo") ?? expect.fail();
    expect(asked.headers.get("authorization")).toBe("Bearer access-1");
  });

  test("does not let one source vouch for the address of the other", async ({ expect }) => {
    const fake = new FakeOidc();
    fake.claims = { email_verified: false };
    fake.userinfo = { email: "nobody@example.com", email_verified: true };
    expect(reasonOf(await signIn(fake, providerAt(fake)))).toBe("not-allowed");
    fake.claims = { email_verified: undefined };
    expect(reasonOf(await signIn(fake, providerAt(fake)))).toBe("not-allowed");
  });

  const unverified: readonly (readonly [string, Record<string, unknown>])[] = [
    ["false", { email_verified: false }],
    ["absent", { email_verified: undefined }],
    ["a word", { email_verified: "yes" }],
    ["null", { email_verified: null }],
  ];
  test.for(unverified)(
    "B109: an address whose mark is %s admits no person",
    async ([, claims], { expect }) => {
      const fake = new FakeOidc();
      fake.claims = claims;
      expect(reasonOf(await signIn(fake, providerAt(fake)))).toBe("not-allowed");
      // With a rule that needs no address, the person gets in, and has none.
      const result = await signIn(fake, providerAt(fake, anyone));
      expect(result).toMatchObject({ kind: "identity" });
      expect(result).not.toHaveProperty("identity.email");
    },
  );

  test("lets people in by their groups", async ({ expect }) => {
    const fake = new FakeOidc();
    const provider = providerAt(fake, {
      allow: { ...NO_ONE_ALLOWED, groups: ["mcp"] },
      groupsClaim: "roles",
    });
    fake.claims = { roles: ["staff", "mcp"] };
    expect(reasonOf(await signIn(fake, provider))).toBe("identity");
    fake.claims = { roles: ["staff"], groups: ["mcp"] };
    expect(reasonOf(await signIn(fake, provider))).toBe("not-allowed");
    fake.claims = {};
    fake.userinfo = { roles: ["mcp"] };
    expect(reasonOf(await signIn(fake, provider))).toBe("identity");
  });

  test("refuses a userinfo answer about another person", async ({ expect }) => {
    const fake = new FakeOidc();
    fake.claims = { name: undefined };
    fake.userinfo = { sub: "eve", name: "Eve" };
    expect(reasonOf(await signIn(fake, providerAt(fake)))).toBe("bad-token");
  });

  test("cuts what could mislead out of a name", async ({ expect }) => {
    const fake = new FakeOidc();
    fake.claims = { name: ` A\u202Enn\u0000\n${"x".repeat(200)}` };
    const result = await signIn(fake, providerAt(fake));
    expect(result).toMatchObject({ identity: { name: `Ann ${"x".repeat(95)}…` } });
  });

  test("reports when the person authenticated", async ({ expect }) => {
    const fake = new FakeOidc();
    const at = now() - 5000;
    fake.claims = { auth_time: at };
    expect(await signIn(fake, providerAt(fake))).toMatchObject({ authTime: at });
  });

  test("refuses an old sign-in where a fresh one was asked for", async ({ expect }) => {
    const fake = new FakeOidc();
    fake.metadata = { claims_supported: ["auth_time"] };
    fake.claims = { auth_time: now() - 600 };
    expect(reasonOf(await signIn(fake, providerAt(fake), { fresh: true }))).toBe("not-fresh");
    // As when a person took `max_age` out of the address.
    fake.claims = {};
    expect(reasonOf(await signIn(fake, providerAt(fake), { fresh: true }))).toBe("not-fresh");
    fake.claims = { auth_time: now() };
    expect(reasonOf(await signIn(fake, providerAt(fake), { fresh: true }))).toBe("identity");
    fake.metadata = {};
    fake.claims = {};
    const result = await signIn(fake, providerAt(fake), { fresh: true });
    expect(result).toMatchObject({ kind: "identity", authTime: 0 });
  });
});
