/** `IDENTITY`: its valid content, and its defaults. */

import { describe, test } from "vitest";

import {
  type IdentityConfig,
  identityProviders,
} from "../../../../src/auth/identity/identity-providers.ts";
import { ProviderDocuments } from "../../../../src/auth/identity/provider-documents.ts";
import { access, entra, github, google, oidc, parse, SECRET, TENANT } from "./entries.ts";

const OWNER_CODE = "kT7wq2Zp9sLr4Vx8Nc3M";

function only(value: unknown, env: Record<string, unknown> = {}): IdentityConfig | undefined {
  const { configs, problems } = parse(value, env);
  return problems.length === 0 && configs.length === 1 ? configs[0] : undefined;
}

describe("parseIdentity() takes", () => {
  test.for([
    undefined,
    "",
    { provider: "owner" },
    '{"provider":"owner"}',
    '[{"provider":"owner"}]',
  ])("%j as the owner", (value, { expect }) => {
    expect(only(value)).toEqual({
      provider: "owner",
      name: "owner",
      label: "Continue as the owner",
    });
  });

  test("the owner's code from its secret", ({ expect }) => {
    expect(only(undefined, { OWNER_CODE })).toMatchObject({ code: OWNER_CODE });
    expect(only(undefined, { OWNER_CODE: "" })).not.toHaveProperty("code");
  });

  test("an OpenID provider, with defaults for absent members", ({ expect }) => {
    expect(only(oidc)).toEqual({
      provider: "oidc",
      name: "oidc",
      label: "Continue with single sign-on",
      issuers: ["https://id.example.com/realms/x"],
      clientId: "edgeway",
      clientSecret: SECRET,
      scopes: [],
      formActions: [],
      groupsClaim: "groups",
      allow: {
        emails: ["ann@example.com"],
        domains: [],
        groups: [],
        organizations: [],
        subjects: [],
      },
      admins: [],
    });
  });

  test("an issuer as it is spelt, and one on this machine without TLS", ({ expect }) => {
    const issuers = ["https://x.auth0.com/", "https://x.auth0.com", "http://localhost:4000"];
    for (const issuer of issuers) {
      expect(only({ ...oidc, issuer })).toMatchObject({ issuers: [issuer] });
    }
  });

  test("a public client", ({ expect }) => {
    expect(only({ ...oidc, clientSecret: undefined })).not.toHaveProperty("clientSecret");
  });

  test("Google, Entra, GitHub and Access", ({ expect }) => {
    expect(only(google)).toMatchObject({ issuers: ["https://accounts.google.com"] });
    expect(only({ ...entra, tenants: [TENANT.toUpperCase()] })).toMatchObject({
      issuers: [`https://login.microsoftonline.com/${TENANT}/v2.0`],
    });
    expect(only(github)).toMatchObject({
      baseUrl: "https://github.com",
      apiUrl: "https://api.github.com",
    });
    expect(only({ ...github, baseUrl: "https://git.example.com/" })).toMatchObject({
      baseUrl: "https://git.example.com",
      apiUrl: "https://git.example.com/api/v3",
    });
    expect(only({ ...github, apiUrl: "http://127.0.0.1:4001/api/" })).toMatchObject({
      apiUrl: "http://127.0.0.1:4001/api",
    });
    expect(only(access)).toMatchObject({ teamUrl: "https://acme.cloudflareaccess.com" });
    expect(only({ ...access, team: "http://localhost:4002" })).toMatchObject({
      teamUrl: "http://localhost:4002",
    });
  });

  test("several, in their order, each made into its provider", ({ expect }) => {
    const list = [google, { ...oidc, name: "work", label: "Work" }, oidc, github, access, entra];
    const { configs, problems } = parse(JSON.stringify([...list, { provider: "owner" }]));
    expect(problems).toEqual([]);
    const deps = {
      fetch,
      enrolment: () => ({ codeHash: async () => undefined }),
      codeMac: async (codeHash: string) => codeHash,
      documents: new ProviderDocuments(),
    };
    const providers = identityProviders(configs, deps);
    expect(providers.map(({ name, kind }) => `${name}: ${kind}`)).toEqual([
      "google: redirect",
      "work: redirect",
      "oidc: redirect",
      "github: redirect",
      "access: header",
      "entra: redirect",
      "owner: code",
    ]);
    expect(providers[1]?.label).toBe("Work");
  });
});
