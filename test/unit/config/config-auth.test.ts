/** `auth` of a server: what it becomes, and one plain sentence for each mistake, which reveals no secret. */

import { describe, test } from "vitest";

import type { ServerAuth } from "../../../src/accounts/settings.ts";
import { parseConfig } from "../../../src/config/config.ts";
import { mistakesOf } from "./said.ts";

const URL_A = "https://a.example.com/mcp";
const ISSUER = "https://login.example.com/t";
const SECRET = "hunter2-SECRET";
const PEM = "-----BEGIN PRIVATE KEY-----\nMIGH\nAgEA\n-----END PRIVATE KEY-----";
const ENV = {
  ID: "id-1",
  SECRET,
  PEM,
  PEM_IN_A_LINE: PEM.replaceAll("\n", String.raw`\n`),
  EC_PEM: PEM.replaceAll("PRIVATE", "EC PRIVATE"),
  BOUND: { fetch: () => new Response() },
};

function parse(entry: object, env: object = {}): ReturnType<typeof parseConfig> {
  return parseConfig({ ...ENV, MCP_SERVERS: { a: { url: URL_A, ...entry } }, ...env });
}

/** @throws Error when the configuration is refused: the test meant it to be good. */
function authOf(entry: object, env: object = {}): ServerAuth | undefined {
  const parsed = parse(entry, env);
  const mistakes = mistakesOf(parsed);
  if (!parsed.ok || mistakes.length > 0) throw new Error(mistakes.join("\n"));
  return parsed.config.servers.get("a")?.auth;
}

function problemsOf(entry: object, env: object = {}): readonly string[] {
  const parsed = parse(entry, env);
  return mistakesOf(parsed);
}

const oauth = (table: object): object => ({ auth: "oauth", oauth: table });
const client = { clientId: "${ID}", clientSecret: "${SECRET}", issuer: ISSUER };
const gatewayAccount = (table: object): object => ({
  auth: "client-credentials",
  oauth: { ...client, ...table },
});
const STATIC = {
  authorizationEndpoint: "https://login.example.com/authorize?tenant=a",
  tokenEndpoint: "https://login.example.com/token",
};

const DEFAULTS = { legacy: false, catalog: "user" };

describe("`auth` becomes", () => {
  test("what `headers` say, if it is not given", ({ expect }) => {
    expect(authOf({})).toEqual({ kind: "none" });
    expect(authOf({ headers: {} })).toEqual({ kind: "none" });
    expect(authOf({ headers: { "X-Key": "${SECRET}" } })).toEqual({ kind: "headers" });
    expect(authOf({ auth: "headers" })).toEqual({ kind: "headers" });
    expect(authOf({ auth: "none", headers: { "X-Key": "1" } })).toEqual({ kind: "none" });
  });

  test("an account of each person, without any table", ({ expect }) => {
    expect(authOf({ auth: "oauth" })).toEqual({ kind: "oauth", oauth: DEFAULTS });
    expect(authOf({ auth: "oauth-shared" })).toEqual({ kind: "oauth-shared", oauth: DEFAULTS });
    expect(authOf({ auth: "key" })).toEqual({
      kind: "key",
      key: { header: "Authorization", prefix: "Bearer " },
    });
  });

  test("a table with every field, and its secrets", ({ expect }) => {
    const table = {
      ...STATIC,
      revocationEndpoint: "https://login.example.com/revoke",
      clientAuth: "client_secret_basic_raw",
      registration: ["cimd", "preregistered"],
      clientMetadataUrl: "https://meta.example.com/client.json",
      scopes: ["a:read", "b"],
      maxScopes: ["a:read", "b", "c"],
      resource: "api://a.example.com",
      authorizeParams: { access_type: "offline", prompt: "consent" },
      scopeOnRefresh: true,
      rotation: "none",
      pkce: "assume",
      legacy: true,
      catalog: "shared",
      label: "A",
      help: "Ask the office for a licence first.",
    };
    const resolved = { ...table, clientId: "id-1", clientSecret: SECRET, issuer: ISSUER };
    expect(authOf(oauth({ ...table, ...client }))).toEqual({ kind: "oauth", oauth: resolved });
  });

  test("one that sends no resource and asks for no scope", ({ expect }) => {
    const table = { resource: false, scopes: [] };
    expect(authOf(oauth(table))).toEqual({ kind: "oauth", oauth: { ...DEFAULTS, ...table } });
  });

  test("one with a key, whose line breaks may be written as two characters", ({ expect }) => {
    for (const privateKey of ["${PEM}", "${PEM_IN_A_LINE}"]) {
      const table = { clientId: "${ID}", issuer: ISSUER, privateKey };
      expect(authOf({ auth: "client-credentials", oauth: table })).toEqual({
        kind: "client-credentials",
        oauth: {
          ...{ ...DEFAULTS, clientId: "id-1", issuer: ISSUER },
          ...{ privateKey: PEM, clientAuth: "private_key_jwt" },
        },
      });
    }
  });

  test("an API key in a header of its own, without a prefix", ({ expect }) => {
    const header = "X-Api-Key";
    expect(authOf({ auth: "key", key: { header } })).toEqual({
      kind: "key",
      key: { header, prefix: "" },
    });
    const key = { header: "authorization", prefix: "Token ", label: "A", help: "See settings." };
    expect(authOf({ auth: "key", key })).toEqual({ kind: "key", key });
  });

  test("U8 an account at a pinned authorization server, in its own spelling", ({ expect }) => {
    for (const issuer of ["https://a.example.com", "https://a.example.com/", "http://[::1]:9/x"]) {
      expect(authOf(oauth({ issuer }))).toMatchObject({ oauth: { issuer } });
    }
  });

  test("an account of the gateway itself, for which nobody signs in", ({ expect }) => {
    expect(authOf(gatewayAccount({}), { AUTH_MODE: "none" })).toMatchObject({
      kind: "client-credentials",
      oauth: { clientId: "id-1", clientSecret: SECRET },
    });
  });

  test("one behind a service binding that needs no discovery", ({ expect }) => {
    const bound = { url: undefined, service: "BOUND" };
    expect(authOf({ ...bound, ...oauth({ ...client, ...STATIC, resource: false }) })).toBeDefined();
    const { tokenEndpoint } = STATIC;
    const table = gatewayAccount({ tokenEndpoint, resource: URL_A });
    expect(authOf({ ...bound, ...table })).toBeDefined();
    expect(authOf({ ...bound, auth: "key" })).toBeDefined();
    // With a URL beside it, metadata is looked for there.
    expect(authOf({ ...bound, url: "http://a.internal/mcp", auth: "oauth" })).toBeDefined();
  });
});

interface Mistake {
  readonly name: string;
  readonly entry: object;
  readonly env?: object;
  readonly sentence: string;
}

const A = "MCP_SERVERS.a";
const KINDS = '"none", "headers", "oauth", "oauth-shared", "key", "client-credentials"';
const CLIENT_AUTH =
  '"none", "client_secret_basic", "client_secret_basic_raw", "client_secret_post", "private_key_jwt"';
const NO_SIGN_IN =
  'for which people have to sign in, and AUTH_MODE is "none"; use AUTH_MODE = "oauth", or a token in "headers"';
const TWO_AUTHORIZATIONS = (auth: string): string =>
  `${A}.headers has "Authorization", which auth = "${auth}" does not allow; remove one of them.`;

const mistakes: readonly Mistake[] = [
  {
    name: "an unknown way",
    entry: { auth: "basic" },
    sentence: `${A}.auth: must be one of ${KINDS}.`,
  },
  {
    name: "a way that is a list",
    entry: { auth: [] },
    sentence: `${A}.auth: must be one of ${KINDS}.`,
  },
  {
    name: "a way by birth",
    entry: { auth: "constructor" },
    sentence: `${A}.auth: must be one of ${KINDS}.`,
  },
  {
    name: "an exchange of tokens",
    entry: { auth: "exchange" },
    sentence: `${A}.auth: "exchange" (an exchange of tokens, RFC 8693) is not offered; it must be one of ${KINDS}.`,
  },
  {
    name: "ID-JAG",
    entry: { auth: "id-jag" },
    sentence: `${A}.auth: "id-jag" (enterprise-managed authorization) is not offered; it must be one of ${KINDS}.`,
  },
  ...["oauth", "oauth-shared", "key"].map((auth) => ({
    name: `U72 ${auth} where nobody signs in`,
    entry: { auth },
    env: { AUTH_MODE: "none" },
    sentence: `${A}.auth is "${auth}", ${NO_SIGN_IN}.`,
  })),
  ...["oauth", "oauth-shared", "key"].map((auth) => ({
    name: `U72 Authorization in headers with ${auth}`,
    entry: { auth, headers: { authorization: "Bearer ${SECRET}" } },
    sentence: TWO_AUTHORIZATIONS(auth),
  })),
  {
    name: "U72 Authorization in headers with client-credentials",
    entry: { ...gatewayAccount({}), headers: { Authorization: "Bearer ${SECRET}" } },
    sentence: TWO_AUTHORIZATIONS("client-credentials"),
  },
  {
    name: "U72 a client without an issuer",
    entry: oauth({ clientId: "${ID}" }),
    sentence: `${A}.oauth.clientId needs an "issuer" beside it: the authorization server that has registered the client.`,
  },
  {
    name: "a table oauth without auth",
    entry: { oauth: {} },
    sentence: `${A}.oauth has no use, since there is no "auth" beside it; it belongs to "oauth", "oauth-shared" and "client-credentials".`,
  },
  {
    name: "a table oauth of a key",
    entry: { auth: "key", oauth: {} },
    sentence: `${A}.oauth has no use, since auth is "key"; it belongs to "oauth", "oauth-shared" and "client-credentials".`,
  },
  {
    name: "a table key of oauth",
    entry: { auth: "oauth", key: {} },
    sentence: `${A}.key has no use, since auth is "oauth"; it belongs to "key".`,
  },
  {
    name: "a table that is a string",
    entry: { auth: "oauth", oauth: SECRET },
    sentence: `${A}.oauth: must be a table.`,
  },
  {
    name: "a key that is a string",
    entry: { auth: "key", key: SECRET },
    sentence: `${A}.key: must be a table.`,
  },
  {
    name: "unknown fields of oauth",
    entry: oauth({ clientid: "x", secret: SECRET }),
    sentence: `${A}.oauth: has keys that this version does not know: clientid (did you mean "clientId"?), secret.`,
  },
  {
    name: "unknown fields of key",
    entry: { auth: "key", key: { value: SECRET } },
    sentence: `${A}.key: has keys that this version does not know: value.`,
  },
  {
    name: "a token over plain http",
    entry: { url: "http://a.example.com/mcp", auth: "oauth" },
    sentence: `${A}.url must begin with "https://" with auth = "oauth", unless it is a loopback host.`,
  },
  ...[
    "login.example.com",
    "http://login.example.com",
    `${ISSUER}?x`,
    `${ISSUER}#x`,
    `https://u:${SECRET}@l.example`,
  ].map((issuer) => ({
    name: `the issuer ${issuer}`,
    entry: oauth({ issuer }),
    sentence: `${A}.oauth.issuer must be an https URL without query, exactly as the authorization server's metadata spells it.`,
  })),
  ...(["authorizationEndpoint", "tokenEndpoint", "revocationEndpoint"] as const).flatMap((field) =>
    ["/token", "http://l.example.com/", "javascript:alert(1)", "https://l.example.com/#x"].map(
      (address) => ({
        name: `the ${field} ${address}`,
        entry: oauth({ ...client, ...STATIC, [field]: address }),
        sentence: `${A}.oauth.${field} must be an https URL without a fragment.`,
      }),
    ),
  ),
  {
    name: "a document of the client without TLS",
    entry: oauth({ clientMetadataUrl: "http://meta.example.com/c.json" }),
    sentence: `${A}.oauth.clientMetadataUrl must be an https URL without a fragment.`,
  },
  ...(["authorizationEndpoint", "tokenEndpoint"] as const).map((field) => ({
    name: `only the ${field}`,
    entry: oauth({ ...client, [field]: STATIC[field] }),
    sentence: `${A}.oauth needs both "authorizationEndpoint" and "tokenEndpoint", which replace the authorization server's metadata together.`,
  })),
  {
    name: "only the revocationEndpoint",
    entry: oauth({ revocationEndpoint: ISSUER }),
    sentence: `${A}.oauth needs both "authorizationEndpoint" and "tokenEndpoint", which replace the authorization server's metadata together.`,
  },
  {
    name: "endpoints without a client",
    entry: oauth(STATIC),
    sentence: `${A}.oauth has endpoints instead of metadata, so nothing says how to register; it needs a "clientId".`,
  },
  {
    name: "a secret without a client",
    entry: oauth({ clientSecret: "${SECRET}" }),
    sentence: `${A}.oauth.clientSecret needs a "clientId" beside it.`,
  },
  {
    name: "a private key without a client",
    entry: oauth({ privateKey: "${PEM}" }),
    sentence: `${A}.oauth.privateKey needs a "clientId" beside it.`,
  },
  {
    name: "a secret that is not set",
    entry: oauth({ ...client, clientSecret: "${NOPE}" }),
    sentence: `${A}.oauth.clientSecret: the secret "NOPE" is not set.`,
  },
  {
    name: "a private key that is not set",
    entry: oauth({ clientId: "${ID}", issuer: ISSUER, privateKey: "${NOPE}" }),
    sentence: `${A}.oauth.privateKey: the secret "NOPE" is not set.`,
  },
  {
    name: "an unknown clientAuth",
    entry: oauth({ ...client, clientAuth: "tls_client_auth" }),
    sentence: `${A}.oauth.clientAuth: must be one of ${CLIENT_AUTH}.`,
  },
  ...["client_secret_basic", "client_secret_basic_raw", "client_secret_post"].map((clientAuth) => ({
    name: `${clientAuth} without a secret`,
    entry: oauth({ clientId: "${ID}", issuer: ISSUER, clientAuth }),
    sentence: `${A}.oauth.clientAuth is "${clientAuth}", which needs a "clientSecret".`,
  })),
  {
    name: "private_key_jwt without a key",
    entry: oauth({ clientId: "${ID}", issuer: ISSUER, clientAuth: "private_key_jwt" }),
    sentence: `${A}.oauth.clientAuth is "private_key_jwt", which needs a "privateKey".`,
  },
  ...["none", "private_key_jwt"].map((clientAuth) => ({
    name: `${clientAuth} with a secret`,
    entry: oauth({ ...client, clientAuth, ...(clientAuth !== "none" && { privateKey: "${PEM}" }) }),
    sentence: `${A}.oauth.clientSecret has no use with clientAuth = "${clientAuth}".`,
  })),
  {
    name: "a private key with a method of secrets",
    entry: oauth({ ...client, clientAuth: "client_secret_post", privateKey: "${PEM}" }),
    sentence: `${A}.oauth.privateKey has no use with clientAuth = "client_secret_post"; it belongs to "private_key_jwt".`,
  },
  ...["${EC_PEM}", "${SECRET}"].map((privateKey) => ({
    name: `the private key ${privateKey}`,
    entry: oauth({ clientId: "${ID}", issuer: ISSUER, privateKey }),
    sentence: `${A}.oauth.privateKey must be a PKCS #8 key in PEM, which begins with "-----BEGIN PRIVATE KEY-----"; "openssl pkcs8 -topk8 -nodes" makes one of another.`,
  })),
  {
    name: "no way to register",
    entry: oauth({ registration: [] }),
    sentence: `${A}.oauth.registration: must not be empty.`,
  },
  {
    name: "a way to register twice",
    entry: oauth({ registration: ["dcr", "dcr"] }),
    sentence: `${A}.oauth.registration: names a way twice.`,
  },
  {
    name: "an unknown way to register",
    entry: oauth({ registration: ["dcr", "manual"] }),
    sentence: `${A}.oauth.registration.1: must be one of "preregistered", "cimd", "dcr".`,
  },
  {
    name: "a client that is never used",
    entry: oauth({ ...client, registration: ["dcr"] }),
    sentence: `${A}.oauth.registration has no "preregistered" in it, so the "clientId" would never be used.`,
  },
  {
    name: "no client where only one is allowed",
    entry: oauth({ registration: ["preregistered"] }),
    sentence: `${A}.oauth.registration allows only "preregistered", which needs a "clientId".`,
  },
  {
    name: "a document that is never used",
    entry: oauth({ registration: ["dcr"], clientMetadataUrl: "https://meta.example.com/c" }),
    sentence: `${A}.oauth.registration has no "cimd" in it, so the "clientMetadataUrl" would never be used.`,
  },
  ...[["a b"], ['a"'], ["a\\"], ["é"], ["a\n"]].map((scopes) => ({
    name: `the scopes ${JSON.stringify(scopes)}`,
    entry: oauth({ scopes }),
    sentence: `${A}.oauth.scopes: must be a list of single scopes, without spaces, quotation marks and backslashes.`,
  })),
  {
    name: "scopes in one string",
    entry: oauth({ scopes: "a b" }),
    sentence: `${A}.oauth.scopes: must be a list of strings.`,
  },
  {
    name: "scopes above the most",
    entry: oauth({ scopes: ["a", "b", "c"], maxScopes: ["b"] }),
    sentence: `${A}.oauth.maxScopes does not contain "a", "c" of "scopes".`,
  },
  ...["/mcp", `${URL_A}#x`, ""].map((resource) => ({
    name: `the resource ${JSON.stringify(resource)}`,
    entry: oauth({ resource }),
    sentence: `${A}.oauth.resource must be an absolute URI without a fragment, or false to send none.`,
  })),
  {
    name: "the resource true",
    entry: oauth({ resource: true }),
    sentence: `${A}.oauth.resource: must be the URI to send, or false to send none.`,
  },
  ...[
    ...["response_type", "response_mode", "client_id", "redirect_uri", "state", "code_challenge"],
    ...["code_challenge_method", "nonce", "request", "request_uri", "STATE"],
  ].map((name) => ({
    name: `U21 ${name} in authorizeParams`,
    entry: oauth({ authorizeParams: { access_type: "offline", [name]: "x" } }),
    sentence: `${A}.oauth.authorizeParams: "${name}" is the gateway's own to set.`,
  })),
  ...[
    ["scope", "scopes"],
    ["resource", "resource"],
  ].map(([name = "", field]) => ({
    name: `U21 ${name} in authorizeParams`,
    entry: oauth({ authorizeParams: { [name]: "x" } }),
    sentence: `${A}.oauth.authorizeParams: "${name}" is the gateway's own to set; use "${field}" for it.`,
  })),
  {
    name: "a parameter that is a number",
    entry: oauth({ authorizeParams: { max_age: 5 } }),
    sentence: `${A}.oauth.authorizeParams.max_age: must be a string.`,
  },
  ...(["scopeOnRefresh", "legacy"] as const).map((field) => ({
    name: `${field} in words`,
    entry: oauth({ [field]: "yes" }),
    sentence: `${A}.oauth.${field}: must be true or false.`,
  })),
  ...[
    { field: "rotation", allowed: '"auto", "none"' },
    { field: "pkce", allowed: '"required", "assume"' },
    { field: "catalog", allowed: '"user", "shared"' },
  ].map(({ field, allowed }) => ({
    name: `an unknown ${field}`,
    entry: oauth({ [field]: "off" }),
    sentence: `${A}.oauth.${field}: must be one of ${allowed}.`,
  })),
  {
    name: "a label that is too long",
    entry: oauth({ label: "x".repeat(61) }),
    sentence: `${A}.oauth.label: must have at most 60 characters.`,
  },
  {
    name: "a help that is too long",
    entry: { auth: "key", key: { help: "x".repeat(301) } },
    sentence: `${A}.key.help: must have at most 300 characters.`,
  },
  {
    name: "the gateway's account without a client",
    entry: { auth: "client-credentials" },
    sentence: `${A}.oauth needs a "clientId" with auth = "client-credentials": the gateway's own account at the authorization server.`,
  },
  {
    name: "the gateway's account without a secret",
    entry: { auth: "client-credentials", oauth: { clientId: "${ID}", issuer: ISSUER } },
    sentence: `${A}.oauth needs a "clientSecret" or a "privateKey" with auth = "client-credentials".`,
  },
  {
    name: "the gateway's account with fields of a browser",
    entry: gatewayAccount({ authorizeParams: {}, pkce: "assume" }),
    sentence: `${A}.oauth has "authorizeParams", "pkce" in it, which mean nothing with auth = "client-credentials".`,
  },
  {
    name: "a binding without an address",
    entry: { url: undefined, service: "BOUND", auth: "oauth" },
    sentence: `${A}: a "service" has no address at which metadata could be found; it needs a "url" beside it, or "authorizationEndpoint", "tokenEndpoint" and "resource" in "oauth".`,
  },
  {
    name: "a binding with endpoints and without a resource",
    entry: { url: undefined, service: "BOUND", ...oauth({ ...client, ...STATIC }) },
    sentence: `${A}: a "service" has no address at which metadata could be found; it needs a "url" beside it, or "authorizationEndpoint", "tokenEndpoint" and "resource" in "oauth".`,
  },
  {
    name: "a binding of the gateway's account without an address",
    entry: { url: undefined, service: "BOUND", ...gatewayAccount({}) },
    sentence: `${A}: a "service" has no address at which metadata could be found; it needs a "url" beside it, or "tokenEndpoint" and "resource" in "oauth".`,
  },
  ...["X Key", "", "Content-Type", "Mcp-Session-Id", "Cookie", "Host"].map((header) => ({
    name: `a key in the header ${JSON.stringify(header)}`,
    entry: { auth: "key", key: { header } },
    sentence:
      header === ""
        ? `${A}.key.header: must not be empty.`
        : `${A}.key.header: "${header}" is not a header that can carry a key.`,
  })),
  {
    name: "a key in a header of the operator",
    entry: { auth: "key", key: { header: "x-key" }, headers: { "X-Key": "${SECRET}" } },
    sentence: `${A}.key.header: "x-key" is also one of the server's "headers".`,
  },
  {
    name: "a prefix with a line break",
    entry: { auth: "key", key: { prefix: "Bearer\r\nX: " } },
    sentence: `${A}.key.prefix has characters that a header cannot carry.`,
  },
];

describe("one sentence for", () => {
  test.for(mistakes)("$name", ({ entry, env, sentence }, { expect }) => {
    expect(problemsOf(entry, env)).toEqual([sentence]);
    expect(sentence).not.toContain(SECRET);
  });
});
