/** What a server of the operator's own is told about the caller, and that it can verify it. */

import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from "jose";
import { describe, test } from "vitest";

import {
  ASSERTION_TYPE,
  IdentityAssertions,
  type PersonFacts,
} from "../../../../src/accounts/assertion/identity-assertion.ts";
import { IdentityKeys } from "../../../../src/accounts/assertion/identity-keys.ts";
import type { IdentitySettings } from "../../../../src/accounts/settings.ts";
import { identityKeyStore, ringOf } from "./identity-fixture.ts";

const ISSUER = "https://mcp.example.com";
const SETTINGS: IdentitySettings = {
  audience: "https://tools.example.com/mcp",
  claims: [],
  header: "Edgeway-Assertion",
};
const ALICE: PersonFacts = { email: "alice@example.com", name: "Alice", groups: ["staff"] };

async function begin(facts: PersonFacts | undefined, now: () => number = () => Date.now()) {
  const store = identityKeyStore(now);
  const keys = new IdentityKeys(() => store, await ringOf("one"), now);
  const assertions = new IdentityAssertions({
    keys,
    factsOf: () => Promise.resolve(facts),
    now,
  });
  const verify = async (jwt: string, audience = SETTINGS.audience) => {
    const set = createLocalJWKSet({ keys: await keys.published() } as JSONWebKeySet);
    const options = { issuer: ISSUER, audience, typ: ASSERTION_TYPE, currentDate: new Date(now()) };
    return (await jwtVerify(jwt, set, options)).payload;
  };
  return { assertions, verify };
}

describe("U71 an identity assertion", () => {
  test("names the person and the application that acts for them, and nothing else", async ({
    expect,
  }) => {
    const { assertions, verify } = await begin(ALICE);
    const claims = await verify(
      await assertions.of(SETTINGS, { origin: ISSUER, person: "u_1", application: "c_1" }),
    );
    expect(claims).toEqual({
      iss: ISSUER,
      aud: SETTINGS.audience,
      sub: "u_1",
      client_id: "c_1",
      act: { sub: "c_1" },
      iat: expect.any(Number),
      exp: (claims.iat ?? 0) + 120,
      jti: expect.stringMatching(/^[\w-]{36}$/),
    });
  });

  test("has the facts that the operator allows", async ({ expect }) => {
    const { assertions, verify } = await begin(ALICE);
    const settings: IdentitySettings = { ...SETTINGS, claims: ["email", "groups"] };
    const claims = await verify(
      await assertions.of(settings, { origin: ISSUER, person: "u_1", application: "c_1" }),
    );
    expect(claims).toMatchObject({ email: "alice@example.com", groups: ["staff"] });
    expect(claims).not.toHaveProperty("name");
  });

  test("of a service client says so", async ({ expect }) => {
    const { assertions, verify } = await begin(undefined);
    const claims = await verify(
      await assertions.of(SETTINGS, { origin: ISSUER, person: "svc_1", application: "svc_1" }),
    );
    expect(claims).toMatchObject({ sub: "svc_1", sub_type: "service" });
    expect(claims).not.toHaveProperty("act");
  });

  test("of the gateway itself, which reads the lists that all share, names no person", async ({
    expect,
  }) => {
    const { assertions, verify } = await begin(ALICE);
    const claims = await verify(await assertions.of(SETTINGS, { origin: ISSUER }));
    expect(claims).toMatchObject({ sub: ISSUER, sub_type: "gateway" });
    expect(claims).not.toHaveProperty("client_id");
  });

  test("is refused at another audience, as another type of token, and after two minutes", async ({
    expect,
  }) => {
    let now = 1_800_000_000_000;
    const { assertions, verify } = await begin(ALICE, () => now);
    const jwt = await assertions.of(SETTINGS, {
      origin: ISSUER,
      person: "u_1",
      application: "c_1",
    });
    expect(decodeProtectedHeader(jwt)).toMatchObject({ alg: "ES256", typ: ASSERTION_TYPE });
    await expect(verify(jwt, "https://other.example.com/mcp")).rejects.toThrow("aud");
    now += 119_000;
    await expect(verify(jwt)).resolves.toBeDefined();
    now += 1000;
    await expect(verify(jwt)).rejects.toThrow("exp");
  });

  test("is signed once for a person, an application and a server", async ({ expect }) => {
    const { assertions } = await begin(ALICE);
    const of = (person: string, application: string, audience = SETTINGS.audience) =>
      assertions.of({ ...SETTINGS, audience }, { person, application, origin: ISSUER });
    const first = await of("u_1", "c_1");
    expect(await of("u_1", "c_1")).toBe(first);
    const others = await Promise.all([
      of("u_2", "c_1"),
      of("u_1", "c_2"),
      of("u_1", "c_1", "other"),
    ]);
    expect(new Set([first, ...others]).size).toBe(4);
  });
});
