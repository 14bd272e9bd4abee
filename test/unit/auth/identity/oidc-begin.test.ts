/** Sign-in by OpenID Connect: the authorization request, and the provider's metadata. */

import { describe, test } from "vitest";

import {
  CALLBACK,
  depart,
  FakeOidc,
  ISSUER,
  providerAt,
  reasonOf,
  signIn,
  STATE,
} from "./fake-oidc.ts";

describe("OidcProvider.begin()", () => {
  test("sends the browser off with PKCE, state and nonce", async ({ expect }) => {
    const { location, memory } = await depart(providerAt(new FakeOidc(), { scopes: ["groups"] }));
    const url = new URL(location);
    expect(url.origin + url.pathname).toBe(`${ISSUER}/authorize`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: "code",
      client_id: "edgeway",
      redirect_uri: CALLBACK,
      state: STATE,
      nonce: memory["nonce"],
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
      scope: "openid profile email groups",
    });
    expect(memory["nonce"]).toMatch(/^[\w-]{43}$/);
    expect(location).not.toContain(String(memory["verifier"]));
  });

  test("takes other secrets each time", async ({ expect }) => {
    const provider = providerAt(new FakeOidc());
    const [one, other] = [await depart(provider), await depart(provider)];
    expect(one.memory["nonce"]).not.toBe(other.memory["nonce"]);
    expect(one.memory["verifier"]).not.toBe(other.memory["verifier"]);
  });

  test("asks for refresh tokens where the provider has them, and then for consent", async ({
    expect,
  }) => {
    const fake = new FakeOidc();
    fake.metadata = { scopes_supported: ["openid", "offline_access"] };
    const { searchParams } = new URL((await depart(providerAt(fake))).location);
    expect(searchParams.get("scope")).toBe("openid profile email offline_access");
    expect(searchParams.get("prompt")).toBe("consent");
  });

  test("asks for a fresh sign-in", async ({ expect }) => {
    const fake = new FakeOidc();
    fake.metadata = { scopes_supported: ["offline_access"] };
    const { searchParams } = new URL((await depart(providerAt(fake), true)).location);
    expect(searchParams.get("prompt")).toBe("login consent");
    expect(searchParams.get("max_age")).toBe("0");
  });

  test("fetches the metadata once for many sign-ins", async ({ expect }) => {
    const fake = new FakeOidc();
    const provider = providerAt(fake);
    for (let n = 0; n < 3; n++) await signIn(fake, provider);
    expect(fake.count("/.well-known/openid-configuration")).toBe(1);
    expect(fake.count("/jwks")).toBe(1);
  });

  const lies: readonly { name: string; metadata: Record<string, unknown> }[] = [
    { name: "another issuer", metadata: { issuer: "https://id.example.com/realms/y" } },
    { name: "the issuer with a slash more", metadata: { issuer: `${ISSUER}/` } },
    { name: "no issuer", metadata: { issuer: 5 } },
    { name: "a script to send browsers to", metadata: { authorization_endpoint: "javascript:x" } },
    { name: "a page without TLS", metadata: { authorization_endpoint: "http://id.example.com/a" } },
    { name: "a page on this machine", metadata: { authorization_endpoint: "http://localhost/a" } },
    { name: "no token endpoint", metadata: { token_endpoint: undefined } },
    { name: "a token endpoint without TLS", metadata: { token_endpoint: "http://10.0.0.1/token" } },
    { name: "keys without TLS", metadata: { jwks_uri: "http://id.example.com/jwks" } },
  ];
  test.for(lies)("refuses metadata with $name", async ({ metadata }, { expect }) => {
    const fake = new FakeOidc();
    fake.metadata = metadata;
    const result = await providerAt(fake).begin({ state: STATE, callback: CALLBACK, fresh: false });
    expect(reasonOf(result)).toBe("provider-error");
  });

  test("refuses an issuer that is spelt as no URL parser spells it", async ({ expect }) => {
    const fake = new FakeOidc();
    fake.issuer = "https://id.example.com";
    fake.metadata = { issuer: "https://id.example.com/" };
    const provider = providerAt(fake, { issuers: ["https://id.example.com"] });
    const result = await provider.begin({ state: STATE, callback: CALLBACK, fresh: false });
    expect(reasonOf(result)).toBe("provider-error");
  });

  const outages: readonly { name: string; answer: () => Response; reason: string }[] = [
    {
      name: "no answer",
      answer: () => {
        throw new TypeError("connection refused");
      },
      reason: "provider-unreachable",
    },
    {
      name: "HTTP 503",
      answer: () => new Response("", { status: 503 }),
      reason: "provider-unreachable",
    },
    { name: "HTTP 404", answer: () => new Response("", { status: 404 }), reason: "provider-error" },
    {
      name: "a redirect",
      answer: () => Response.redirect("https://evil.example/x"),
      reason: "provider-error",
    },
    { name: "HTML", answer: () => new Response("<p>hi"), reason: "provider-error" },
    {
      name: "2 MiB",
      answer: () => new Response("x".repeat(2 ** 21)),
      reason: "provider-unreachable",
    },
  ];
  test.for(outages)("refuses in words after $name", async ({ answer, reason }, { expect }) => {
    const fake = new FakeOidc();
    fake.answers.set("/.well-known/openid-configuration", answer);
    const provider = providerAt(fake);
    const result = await provider.begin({ state: STATE, callback: CALLBACK, fresh: false });
    expect(reasonOf(result)).toBe(reason);
    // The next sign-in asks again.
    fake.answers.clear();
    await depart(provider);
  });
});

describe("OidcProvider.formActions()", () => {
  test("names every origin on the way", async ({ expect }) => {
    const fake = new FakeOidc();
    fake.metadata = { authorization_endpoint: "https://login.example.com/authorize" };
    const provider = providerAt(fake, { formActions: ["https://sso.example.org"] });
    expect((await provider.formActions()).toSorted()).toEqual([
      "https://id.example.com",
      "https://login.example.com",
      "https://sso.example.org",
    ]);
  });

  test("does with the issuer while the provider is out of reach", async ({ expect }) => {
    const fake = new FakeOidc();
    fake.answers.set("/.well-known/openid-configuration", () => new Response("", { status: 502 }));
    expect(await providerAt(fake).formActions()).toEqual(["https://id.example.com"]);
  });
});
