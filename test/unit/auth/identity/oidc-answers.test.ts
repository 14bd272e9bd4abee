/** Sign-in by OpenID Connect: the answers that come back wrong, by the browser or the provider. */

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

describe("the answer in the browser's address", () => {
  const wrong: readonly { name: string; answer: Record<string, string> }[] = [
    { name: "B98: another state", answer: { state: "another" } },
    { name: "B98: an empty state", answer: { state: "" } },
    { name: "B99: the iss of another provider", answer: { iss: "https://evil.example" } },
    { name: "B99: an iss with a slash more", answer: { iss: `${ISSUER}/` } },
    { name: "an id_token", answer: { id_token: "x.y.z" } },
    { name: "a JARM response", answer: { response: "x.y.z" } },
  ];
  test.for(wrong)(
    "with $name is refused before anything is sent",
    async ({ answer }, { expect }) => {
      const fake = new FakeOidc();
      expect(reasonOf(await signIn(fake, providerAt(fake), { answer }))).toBe("bad-state");
      expect(fake.count("/token")).toBe(0);
    },
  );

  test("B99: without iss is refused if the provider always sends it", async ({ expect }) => {
    const fake = new FakeOidc();
    fake.metadata = { authorization_response_iss_parameter_supported: true };
    expect(reasonOf(await signIn(fake, providerAt(fake)))).toBe("bad-state");
    expect(fake.count("/token")).toBe(0);
    expect(reasonOf(await signIn(fake, providerAt(fake), { answer: { iss: ISSUER } }))).toBe(
      "identity",
    );
  });

  test("for another sign-in is refused, and the provider is not even looked up", async ({
    expect,
  }) => {
    for (const query of ["state=another", `state=${STATE}&state=another`, "code=code-1"]) {
      const fake = new FakeOidc();
      const { memory } = await depart(providerAt(fake));
      const before = fake.seen.length;
      const url = new URL(`${CALLBACK}?${query}`);
      const end = { url, state: STATE, callback: CALLBACK, memory };
      expect(await providerAt(fake).finish(end)).toMatchObject({
        reason: "bad-state",
        detail: expect.stringContaining("(state)"),
      });
      expect(fake.seen.length).toBe(before);
    }
  });

  test("with two codes or errors is refused", async ({ expect }) => {
    for (const twice of ["code=x", "error=a&error=b"]) {
      const fake = new FakeOidc();
      const provider = providerAt(fake);
      const { memory } = await depart(provider);
      const url = new URL(`${CALLBACK}?code=code-1&state=${STATE}&${twice}`);
      const result = await provider.finish({ url, state: STATE, callback: CALLBACK, memory });
      expect(result.kind, twice).toBe("refused");
      expect(fake.count("/token"), twice).toBe(0);
    }
  });

  test("B99: for a sign-in that began with another provider is refused", async ({ expect }) => {
    const [one, other] = [new FakeOidc(), new FakeOidc()];
    const { memory } = await depart(providerAt(one, { name: "one" }));
    const url = new URL(`${CALLBACK}?code=code-1&state=${STATE}`);
    const end = { url, state: STATE, callback: CALLBACK, memory };
    expect(reasonOf(await providerAt(other, { name: "other" }).finish(end))).toBe("bad-state");
    expect(other.seen).toEqual([]);
    expect(one.count("/token")).toBe(0);
  });

  test("with an error is reported by its code, without the provider's text", async ({ expect }) => {
    const fake = new FakeOidc();
    const answer = { error: "access_denied", error_description: "<script>Raw</script>" };
    const result = await signIn(fake, providerAt(fake), { answer });
    expect(result).toEqual({
      kind: "refused",
      reason: "provider-error",
      detail: "The provider says that access was denied, by the person or by a rule.",
    });
    const odd = await signIn(fake, providerAt(fake), { answer: { error: "<script>Raw" } });
    expect(JSON.stringify(odd)).not.toContain("Raw");
  });
});

describe("the token endpoint", () => {
  const errors: readonly { name: string; answer: () => Response; reason: string }[] = [
    {
      name: "invalid_client",
      answer: () =>
        Response.json(
          { error: "invalid_client", error_description: "Raw" },
          { status: 401, headers: { "WWW-Authenticate": 'Basic realm="Raw"' } },
        ),
      reason: "provider-error",
    },
    {
      name: "invalid_grant",
      answer: () =>
        Response.json({ error: "invalid_grant", error_description: "Raw" }, { status: 400 }),
      reason: "provider-error",
    },
    {
      name: "HTTP 500",
      answer: () => new Response("Raw", { status: 500 }),
      reason: "provider-unreachable",
    },
    {
      name: "HTTP 429",
      answer: () => new Response("Raw", { status: 429 }),
      reason: "provider-unreachable",
    },
    { name: "HTML", answer: () => new Response("<p>Raw"), reason: "bad-token" },
    {
      name: "a redirect",
      answer: () => Response.redirect("https://evil.example/Raw", 307),
      reason: "bad-token",
    },
    {
      name: "no ID token",
      answer: () => Response.json({ access_token: "Raw", token_type: "Bearer" }),
      reason: "bad-token",
    },
  ];
  test.for(errors)(
    "answers with $name: refused in words of ours",
    async ({ answer, reason }, { expect }) => {
      const fake = new FakeOidc();
      fake.answers.set("/token", answer);
      const result = await signIn(fake, providerAt(fake));
      expect(reasonOf(result)).toBe(reason);
      expect(JSON.stringify(result)).not.toContain("Raw");
    },
  );
});
