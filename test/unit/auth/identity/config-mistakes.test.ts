/** `IDENTITY`: one plain sentence for each mistake. */

import { describe, test } from "vitest";

import { access, allow, entra, github, google, oidc, parse, SECRET, TENANT } from "./entries.ts";

interface Mistake {
  readonly name: string;
  readonly value: unknown;
  readonly env?: Record<string, unknown>;
  readonly key: string;
  readonly part: string;
}

const mistakes: readonly Mistake[] = [
  { name: "no JSON", value: `{provider: ${SECRET}}`, key: "IDENTITY", part: "JSON" },
  { name: "null", value: null, key: "IDENTITY", part: "table" },
  { name: "JSON null", value: "null", key: "IDENTITY", part: "table" },
  { name: "a number", value: 5, key: "IDENTITY", part: "table" },
  { name: "an empty list", value: [], key: "IDENTITY", part: "nobody" },
  { name: "a list with a text", value: ["owner"], key: "IDENTITY[0]", part: "table" },
  { name: "no provider", value: {}, key: "IDENTITY.provider", part: '"github"' },
  {
    name: "an unknown provider",
    value: { provider: "ldap" },
    key: "IDENTITY.provider",
    part: '"oidc"',
  },
  {
    name: "a provider by birth",
    value: { provider: "constructor" },
    key: "IDENTITY.provider",
    part: '"oidc"',
  },
  { name: "an unknown key", value: { ...oidc, secret: SECRET }, key: "IDENTITY", part: "secret" },
  {
    name: "an unknown list",
    value: { ...oidc, allow: { email: ["a@b.c"] } },
    key: "IDENTITY.allow",
    part: "email",
  },
  {
    name: "a name with a slash",
    value: { ...oidc, name: "a/b" },
    key: "IDENTITY.name",
    part: "a-z",
  },
  { name: "an empty label", value: { ...oidc, label: "" }, key: "IDENTITY.label", part: "empty" },
  {
    name: "two of a name",
    value: [oidc, { ...oidc, issuer: "https://b.example" }],
    key: "IDENTITY[1].name",
    part: '"oidc"',
  },
  ...[oidc, google, entra, github, access].flatMap((entry) => [
    {
      name: `${entry.provider} that lets no person in`,
      value: { ...entry, allow: undefined },
      key: "IDENTITY.allow",
      part: "nobody could sign in",
    },
    {
      name: `${entry.provider} with empty lists`,
      value: { ...entry, allow: { emails: [], subjects: [] } },
      key: "IDENTITY.allow",
      part: "nobody could sign in",
    },
  ]),
  {
    name: "an address of all people",
    value: { ...oidc, allow: { emails: ["*@example.com"] } },
    key: "IDENTITY.allow.emails",
    part: "whole addresses",
  },
  {
    name: "an address without a domain",
    value: { ...oidc, allow: { emails: ["ann"] } },
    key: "IDENTITY.allow.emails",
    part: "whole addresses",
  },
  ...["*", "*.example.com", "@example.com", "com", "https://example.com"].map((domain) => ({
    name: `the domain ${domain}`,
    value: { ...oidc, allow: { domains: [domain] } },
    key: "IDENTITY.allow.domains",
    part: "whole domains",
  })),
  {
    name: "groups at GitHub",
    value: { ...github, allow: { ...allow, groups: ["a"] } },
    key: "IDENTITY.allow.groups",
    part: "organizations",
  },
  {
    name: "organizations at an OpenID provider",
    value: { ...oidc, allow: { ...allow, organizations: ["a"] } },
    key: "IDENTITY.allow.organizations",
    part: "groups",
  },
  {
    name: "a list that is a text",
    value: { ...oidc, allow: { emails: "a@b.c" } },
    key: "IDENTITY.allow.emails",
    part: "list",
  },
  {
    name: "admins that are a text",
    value: { ...oidc, admins: "ann" },
    key: "IDENTITY.admins",
    part: "list",
  },
  {
    name: "no issuer",
    value: { ...oidc, issuer: undefined },
    key: "IDENTITY.issuer",
    part: "string",
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
    part: "https URL",
  })),
  ...["common", "organizations", "consumers", TENANT].map((tenant) => ({
    name: `Microsoft's issuer of ${tenant} as OpenID provider`,
    value: { ...oidc, issuer: `https://login.microsoftonline.com/${tenant}/v2.0` },
    key: "IDENTITY.issuer",
    part: '"entra"',
  })),
  {
    name: "Google's issuer as OpenID provider",
    value: { ...oidc, issuer: "https://accounts.google.com" },
    key: "IDENTITY.issuer",
    part: '"google"',
  },
  ...["common", "Organizations", "consumers"].map((tenant) => ({
    name: `the tenant ${tenant}`,
    value: { ...entra, tenants: [TENANT, tenant] },
    key: "IDENTITY.tenants",
    part: "everybody's",
  })),
  {
    name: "a tenant by its domain",
    value: { ...entra, tenants: ["acme.example"] },
    key: "IDENTITY.tenants",
    part: "ids",
  },
  { name: "no tenants", value: { ...entra, tenants: [] }, key: "IDENTITY.tenants", part: "empty" },
  {
    name: "no client id",
    value: { ...github, clientId: "" },
    key: "IDENTITY.clientId",
    part: "empty",
  },
  {
    name: "no client secret",
    value: { ...github, clientSecret: undefined },
    key: "IDENTITY.clientSecret",
    part: "string",
  },
  ...["NOPE", "EMPTY", "OBJECT"].map((name) => ({
    name: `the secret ${name}`,
    value: { ...oidc, clientSecret: `\${${name}}` },
    key: "IDENTITY.clientSecret",
    part: `"${name}"`,
  })),
  {
    name: "a way to prove the secret",
    value: { ...oidc, clientAuth: "tls" },
    key: "IDENTITY.clientAuth",
    part: "client_secret_post",
  },
  {
    name: "GitHub without TLS",
    value: { ...github, baseUrl: "http://git.example.com" },
    key: "IDENTITY.baseUrl",
    part: "origin",
  },
  {
    name: "an API without TLS",
    value: { ...github, apiUrl: "http://git.example.com" },
    key: "IDENTITY.apiUrl",
    part: "https",
  },
  {
    name: "an origin with a path",
    value: { ...oidc, formActions: ["https://a.example/b"] },
    key: "IDENTITY.formActions",
    part: "origin",
  },
  {
    name: "a team with a dot",
    value: { ...access, team: "acme.example" },
    key: "IDENTITY.team",
    part: "origin",
  },
  ...["changeme", "aaaaaaaaaaaaaaaaaaaaaaaa", 5].map((code) => ({
    name: `B94: the owner's code ${code}`,
    value: undefined,
    env: { OWNER_CODE: code },
    key: "OWNER_CODE",
    part: " ",
  })),
];

describe("one sentence for", () => {
  test.for(mistakes)("$name", ({ value, env, key, part }, { expect }) => {
    const { configs, problems } = parse(value, env);
    expect(problems).toHaveLength(1);
    const [sentence = ""] = problems;
    expect(sentence.split(/[ :]/, 1)[0], sentence).toBe(key);
    expect(sentence).toContain(part);
    expect(sentence).toMatch(/^[^\n]+\.$/);
    expect(sentence).not.toContain(SECRET);
    // A wrong provider is not served, unless only its name is wrong.
    expect(configs.length).toBe(key.endsWith("[1].name") ? 2 : 0);
  });
});

test("a code that can be guessed is not quoted", ({ expect }) => {
  const { problems } = parse(undefined, { OWNER_CODE: "changeme-changeme-changeme" });
  expect(problems.join()).not.toContain("changeme");
});
