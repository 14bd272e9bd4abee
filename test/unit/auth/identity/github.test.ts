/** Sign-in by GitHub, which is not OpenID Connect. */

import { describe, test } from "vitest";

import {
  ann,
  byId,
  CALLBACK,
  depart,
  FakeGitHub,
  providerAt,
  signIn,
  STATE,
} from "./fake-github.ts";
import { now, reasonOf } from "./fake-oidc.ts";

describe("GitHubProvider", () => {
  test("sends the browser off with PKCE, and asks for organizations only where they count", async ({
    expect,
  }) => {
    const { location } = await depart(providerAt(new FakeGitHub(), byId));
    const url = new URL(location);
    expect(url.origin + url.pathname).toBe("https://github.com/login/oauth/authorize");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: "client",
      redirect_uri: CALLBACK,
      scope: "read:user user:email",
      state: STATE,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
    const other = await depart(providerAt(new FakeGitHub(), { organizations: ["acme"] }));
    expect(new URL(other.location).searchParams.get("scope")).toContain("read:org");
  });

  test("knows people by their number, and exchanges the code with the verifier", async ({
    expect,
  }) => {
    const fake = new FakeGitHub();
    const provider = providerAt(fake, byId, { admins: ["583231"] });
    expect(await signIn(provider)).toEqual({
      kind: "identity",
      identity: { ...ann, name: "Ann", isAdmin: true },
      upkeep: JSON.stringify({ accessToken: "gho_1" }),
      authTime: 0,
    });
    const [{ form } = expect.fail(), user] = fake.seen;
    expect(Object.fromEntries(form)).toEqual({
      client_id: "client",
      client_secret: "secret",
      code: "code-1",
      redirect_uri: CALLBACK,
      code_verifier: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(user?.headers.get("authorization")).toBe("Bearer gho_1");
    expect(user?.headers.get("user-agent")).toBe("edgeway");
  });

  test("a fresh sign-in counts from now", async ({ expect }) => {
    const provider = providerAt(new FakeGitHub(), byId);
    expect(new URL((await depart(provider, true)).location).searchParams.get("prompt")).toBe(
      "select_account",
    );
    const result = await signIn(provider, {}, true);
    expect(result).toMatchObject({ authTime: expect.closeTo(now(), -1) });
  });

  test("a login name that another account took over admits no person", async ({ expect }) => {
    const fake = new FakeGitHub();
    fake.answers.set("/user", () => Response.json({ id: 999, login: "ann", name: "583231" }));
    fake.answers.delete("/user/emails");
    expect(reasonOf(await signIn(providerAt(fake, byId)))).toBe("not-allowed");
    expect(reasonOf(await signIn(providerAt(fake, { subjects: ["ann"] })))).toBe("not-allowed");
  });

  const emails: readonly (readonly [string, unknown])[] = [
    ["unverified", [{ email: "ann@example.com", verified: false, primary: true }]],
    ["not primary", [{ email: "ann@example.com", verified: true, primary: false }]],
    ["verified in a word", [{ email: "ann@example.com", verified: "true", primary: true }]],
    ["none", []],
  ];
  test.for(emails)("B109: an address that is %s admits no person", async ([, list], { expect }) => {
    const fake = new FakeGitHub();
    fake.answers.set("/user/emails", () => Response.json(list));
    const provider = providerAt(fake, { emails: ["ann@example.com"], domains: ["example.com"] });
    expect(reasonOf(await signIn(provider))).toBe("not-allowed");
  });

  const memberships: readonly (readonly [string, () => Response, string])[] = [
    ["active", () => Response.json({ state: "active" }), "identity"],
    ["invited", () => Response.json({ state: "pending" }), "not-allowed"],
    ["unknown", () => Response.json({}, { status: 404 }), "not-allowed"],
    ["hidden", () => Response.json({}, { status: 403 }), "not-allowed"],
    [
      "not available because of the rate limit",
      () => Response.json({}, { status: 403, headers: { "x-ratelimit-remaining": "0" } }),
      "provider-unreachable",
    ],
    ["not available", () => Response.json({}, { status: 500 }), "provider-unreachable"],
  ];
  test.for(memberships)("a membership that is %s", async ([, answer, outcome], { expect }) => {
    const fake = new FakeGitHub();
    fake.answers.set("/user/memberships/orgs/acme", answer);
    const provider = providerAt(fake, { organizations: ["acme"] });
    expect(reasonOf(await signIn(provider))).toBe(outcome);
  });

  const errors = [
    "bad_verification_code",
    "incorrect_client_credentials",
    "redirect_uri_mismatch",
    "<script>Raw",
  ];
  test.for(errors)(
    "the error %s, which comes with status 200, is an error",
    async (error, { expect }) => {
      const fake = new FakeGitHub();
      fake.token = { error, error_description: "Raw", access_token: "gho_1" };
      const result = await signIn(providerAt(fake, byId));
      expect(reasonOf(result)).toBe("provider-error");
      expect(JSON.stringify(result)).not.toContain("Raw");
      expect(fake.seen).toHaveLength(1);
    },
  );

  const odd: readonly (readonly [string, (fake: FakeGitHub) => void])[] = [
    ["no token", (fake) => void (fake.token = {})],
    [
      "an id that is a text",
      (fake) => void fake.answers.set("/user", () => Response.json({ id: "583231" })),
    ],
    ["no user", (fake) => void fake.answers.set("/user", () => Response.json([]))],
    [
      "a refused token",
      (fake) => void fake.answers.set("/user", () => Response.json({}, { status: 401 })),
    ],
  ];
  test.for(odd)("%s is refused", async ([, change], { expect }) => {
    const fake = new FakeGitHub();
    change(fake);
    expect(reasonOf(await signIn(providerAt(fake, byId)))).toBe("provider-error");
  });

  const answers: readonly (readonly [string, Record<string, string>, string])[] = [
    ["B98: another state", { state: "another" }, "bad-state"],
    ["B99: the iss of another provider", { iss: "https://evil.example" }, "bad-state"],
    ["no code", { code: "" }, "provider-error"],
    ["an error", { error: "access_denied" }, "provider-error"],
  ];
  test.for(answers)(
    "%s is refused before anything is sent",
    async ([, answer, reason], { expect }) => {
      const fake = new FakeGitHub();
      expect(reasonOf(await signIn(providerAt(fake, byId), answer))).toBe(reason);
      expect(fake.seen).toEqual([]);
    },
  );

  test("B99: a sign-in that began with another provider is refused", async ({ expect }) => {
    const fake = new FakeGitHub();
    const { memory } = await depart(providerAt(fake, byId, { name: "enterprise" }));
    const url = new URL(`${CALLBACK}?code=code-1&state=${STATE}`);
    const end = { url, state: STATE, callback: CALLBACK, memory };
    expect(reasonOf(await providerAt(fake, byId).finish(end))).toBe("bad-state");
    expect(fake.seen).toEqual([]);
  });

  test("its own iss is taken", async ({ expect }) => {
    const answer = { iss: "https://github.com/login/oauth" };
    expect(reasonOf(await signIn(providerAt(new FakeGitHub(), byId), answer))).toBe("identity");
  });
});
