/** `IDENTITY`: one plain sentence for each mistake. */

import { describe, test } from "vitest";

import { access, allow, entra, github, google, oidc, parse, SECRET, TENANT } from "./entries.ts";

interface Mistake {
  readonly name: string;
  readonly value: unknown;
  readonly env?: Record<string, unknown>;
  readonly key: string;
  readonly says: string;
}

const mistakes: readonly Mistake[] = [
  { name: "no JSON", value: `{provider: ${SECRET}}`, key: "IDENTITY", says: "JSON" },
  { name: "null", value: null, key: "IDENTITY", says: "table" },
  { name: "JSON null", value: "null", key: "IDENTITY", says: "table" },
  { name: "a number", value: 5, key: "IDENTITY", says: "table" },
  { name: "an empty list", value: [], key: "IDENTITY", says: "nobody" },
  { name: "a list with a text", value: ["owner"], key: "IDENTITY[0]", says: "table" },
  { name: "no provider", value: {}, key: "IDENTITY.provider", says: '"github"' },
  {
    name: "an unknown provider",
    value: { provider: "ldap" },
    key: "IDENTITY.provider",
    says: '"oidc"',
  },
  {
    name: "a provider by birth",
    value: { provider: "constructor" },
    key: "IDENTITY.provider",
    says: '"oidc"',
  },
  { name: "an unknown key", value: { ...oidc, secret: SECRET }, key: "IDENTITY", says: "secret" },
  {
    name: "an unknown list",
    value: { ...oidc, allow: { email: ["a@b.c"] } },
    key: "IDENTITY.allow",
    says: "email",
  },
  {
    name: "a name with a slash",
    value: { ...oidc, name: "a/b" },
    key: "IDENTITY.name",
    says: "a-z",
  },
  { name: "an empty label", value: { ...oidc, label: "" }, key: "IDENTITY.label", says: "empty" },
  {
    name: "two of a name",
    value: [oidc, { ...oidc, issuer: "https://b.example" }],
    key: "IDENTITY[1].name",
    says: '"oidc"',
  },
  ...[oidc, google, entra, github, access].flatMap((entry) => [
    {
      name: `${entry.provider} that lets nobody in`,
      value: { ...entry, allow: undefined },
      key: "IDENTITY.allow",
      says: "nobody could sign in",
    },
    {
      name: `${entry.provider} with empty lists`,
      value: { ...entry, allow: { emails: [], subjects: [] } },
      key: "IDENTITY.allow",
      says: "nobody could sign in",
    },
  ]),
  {
    name: "everybody's address",
    value: { ...oidc, allow: { emails: ["*@example.com"] } },
    key: "IDENTITY.allow.emails",
    says: "whole addresses",
  },
  {
    name: "an address without a domain",
    value: { ...oidc, allow: { emails: ["ann"] } },
    key: "IDENTITY.allow.emails",
    says: "whole addresses",
  },
  ...["*", "*.example.com", "@example.com", "com", "https://example.com"].map((domain) => ({
    name: `the domain ${domain}`,
    value: { ...oidc, allow: { domains: [domain] } },
    key: "IDENTITY.allow.domains",
    says: "whole domains",
  })),
  {
    name: "groups at GitHub",
    value: { ...github, allow: { ...allow, groups: ["a"] } },
    key: "IDENTITY.allow.groups",
    says: "organizations",
  },
  {
    name: "organizations at an OpenID provider",
    value: { ...oidc, allow: { ...allow, organizations: ["a"] } },
    key: "IDENTITY.allow.organizations",
    says: "groups",
  },
  {
    name: "a list that is a text",
    value: { ...oidc, allow: { emails: "a@b.c" } },
    key: "IDENTITY.allow.emails",
    says: "list",
  },
  {
    name: "admins that are a text",
    value: { ...oidc, admins: "ann" },
    key: "IDENTITY.admins",
    says: "list",
  },
  {
    name: "no issuer",
    value: { ...oidc, issuer: undefined },
    key: "IDENTITY.issuer",
    says: "string",
  },
  ...[
    "id.example.com",
    "http://id.example.com",
    "https://id.example.com/?a",
    "https://id.example.com/#a",
    `https://ann:${SECRET}@id.example.com`,
    "javascript:alert(1)",
  ].map((issuer) => ({
    name: `the issuer ${issuer}`,
    value: { ...oidc, issuer },
    key: "IDENTITY.issuer",
    says: "https URL",
  })),
  ...["common", "organizations", "consumers", TENANT].map((tenant) => ({
    name: `Microsoft's issuer of ${tenant} as OpenID provider`,
    value: { ...oidc, issuer: `https://login.microsoftonline.com/${tenant}/v2.0` },
    key: "IDENTITY.issuer",
    says: '"entra"',
  })),
  {
    name: "Google's issuer as OpenID provider",
    value: { ...oidc, issuer: "https://accounts.google.com" },
    key: "IDENTITY.issuer",
    says: '"google"',
  },
  ...["common", "Organizations", "consumers"].map((tenant) => ({
    name: `the tenant ${tenant}`,
    value: { ...entra, tenants: [TENANT, tenant] },
    key: "IDENTITY.tenants",
    says: "everybody's",
  })),
  {
    name: "a tenant by its domain",
    value: { ...entra, tenants: ["acme.example"] },
    key: "IDENTITY.tenants",
    says: "ids",
  },
  { name: "no tenants", value: { ...entra, tenants: [] }, key: "IDENTITY.tenants", says: "empty" },
  {
    name: "no client id",
    value: { ...github, clientId: "" },
    key: "IDENTITY.clientId",
    says: "empty",
  },
  {
    name: "no client secret",
    value: { ...github, clientSecret: undefined },
    key: "IDENTITY.clientSecret",
    says: "string",
  },
  ...["NOPE", "EMPTY", "OBJECT"].map((name) => ({
    name: `the secret ${name}`,
    value: { ...oidc, clientSecret: `\${${name}}` },
    key: "IDENTITY.clientSecret",
    says: `"${name}"`,
  })),
  {
    name: "a way to prove the secret",
    value: { ...oidc, clientAuth: "tls" },
    key: "IDENTITY.clientAuth",
    says: "client_secret_post",
  },
  {
    name: "GitHub without TLS",
    value: { ...github, baseUrl: "http://git.example.com" },
    key: "IDENTITY.baseUrl",
    says: "origin",
  },
  {
    name: "an API without TLS",
    value: { ...github, apiUrl: "http://git.example.com" },
    key: "IDENTITY.apiUrl",
    says: "https",
  },
  {
    name: "an origin with a path",
    value: { ...oidc, formActions: ["https://a.example/b"] },
    key: "IDENTITY.formActions",
    says: "origin",
  },
  {
    name: "a team with a dot",
    value: { ...access, team: "acme.example" },
    key: "IDENTITY.team",
    says: "origin",
  },
  ...["changeme", "aaaaaaaaaaaaaaaaaaaaaaaa", 5].map((code) => ({
    name: `B94: the owner's code ${code}`,
    value: undefined,
    env: { OWNER_CODE: code },
    key: "OWNER_CODE",
    says: " ",
  })),
];

describe("one sentence for", () => {
  test.for(mistakes)("$name", ({ value, env, key, says }, { expect }) => {
    const { configs, problems } = parse(value, env);
    expect(problems).toHaveLength(1);
    const [sentence = ""] = problems;
    expect(sentence.split(/[ :]/, 1)[0], sentence).toBe(key);
    expect(sentence).toContain(says);
    expect(sentence).toMatch(/^[^\n]+\.$/);
    expect(sentence).not.toContain(SECRET);
    // What is wrong is not served, unless its name is all that is wrong.
    expect(configs.length).toBe(key.endsWith("[1].name") ? 2 : 0);
  });
});

test("a code that can be guessed is not quoted", ({ expect }) => {
  const { problems } = parse(undefined, { OWNER_CODE: "changeme-changeme-changeme" });
  expect(problems.join()).not.toContain("changeme");
});
