/** Metadata documents: their content, the client that they describe, and which changes count. */

import { OAuthAuthorizationServer } from "@cloudflare/workers-oauth-provider";
import { describe, test } from "vitest";

import {
  asVerified,
  type ClientRecord,
  documentDigestOf,
  type DocumentProblem,
  parseClientDocument,
} from "../../../../src/auth/clients/client-document.ts";

const URL_ = "https://a.client.example/client.json";
const CALLBACK = "https://a.client.example/cb";
const DOCUMENT = { client_id: URL_, client_name: "A client", redirect_uris: [CALLBACK] };
const RESOURCE = "https://gateway.example/mcp";
const JWK = { kty: "EC", crv: "P-256", x: "AA", y: "AA", kid: "1" };
const SIGNING = { token_endpoint_auth_method: "private_key_jwt" };
const KEYS_AT = "https://a.client.example/keys";

const BOTH = ["none", "private_key_jwt"];

function parsed(members: object = {}): ClientRecord {
  const outcome = parseClientDocument(URL_, { ...DOCUMENT, ...members });
  if (outcome.kind !== "client") throw new Error(outcome.problem);
  return outcome.client;
}

const signing = (members: object): ClientRecord => parsed({ ...SIGNING, ...members });

describe("parseClientDocument()", () => {
  test("a document with the required members is a public client", ({ expect }) => {
    expect(parsed()).toEqual({
      clientId: URL_,
      clientName: "A client",
      redirectUris: [CALLBACK],
      grantTypes: ["authorization_code"],
      responseTypes: ["code"],
      tokenEndpointAuthMethod: "none",
      tokenEndpointAuthMethods: ["none"],
    });
  });

  test("members that this server does not use are left out", ({ expect }) => {
    const client = parsed({
      ...{ application_type: "native", scope: "mcp", software_id: "1" },
      grant_types: [
        ...["refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
        "authorization_code",
      ],
      response_types: ["code", "code id_token"],
      client_uri: "https://a.client.example/",
      logo_uri: "https://cdn.client.example/l.png",
      policy_uri: "javascript:alert(1)",
      tos_uri: "http://a.client.example/",
      token_endpoint_auth_methods_supported: ["client_secret_post", "none", "tls_client_auth"],
    });
    expect(client).toEqual({
      ...parsed(),
      clientUri: "https://a.client.example/",
      logoUri: "https://cdn.client.example/l.png",
      grantTypes: ["authorization_code", "refresh_token"],
    });
  });

  test("a client that can sign or not may do either", ({ expect }) => {
    const client = parsed({
      ...SIGNING,
      token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
      token_endpoint_auth_signing_alg: "RS256",
      jwks_uri: KEYS_AT,
    });
    expect(client).toEqual({
      ...parsed(),
      jwksUri: KEYS_AT,
      tokenEndpointAuthMethods: ["none", "private_key_jwt"],
      clientAssertionKeys: { jwksUri: KEYS_AT, algorithms: ["RS256"] },
    });
  });

  test("a client that signs has to, until its signature was verified", ({ expect }) => {
    const client = parsed({ ...SIGNING, jwks: { keys: [JWK] } });
    expect(client).toMatchObject({
      tokenEndpointAuthMethod: "private_key_jwt",
      tokenEndpointAuthMethods: ["private_key_jwt"],
      clientAssertionKeys: {
        jwks: { keys: [JWK] },
        algorithms: ["ES256", "RS256", "EdDSA", "PS256"],
      },
    });
    expect(asVerified(client)).toEqual({ ...client, tokenEndpointAuthMethod: "none" });
  });

  test("keys that are of no use do no harm to a client that need not sign", ({ expect }) => {
    const methods = { token_endpoint_auth_methods_supported: ["none", "private_key_jwt"] };
    for (const members of [{}, { jwks: { keys: [] } }, { jwks_uri: "http://a.client.example/" }]) {
      expect(parsed({ ...methods, ...members })).toEqual(parsed());
    }
  });

  const problems: readonly (readonly [string, DocumentProblem, unknown])[] = [
    ["null", "not-an-object", null],
    ["a list", "not-an-object", [DOCUMENT]],
    ["a text", "not-an-object", "x"],
    ["no client id", "other-client-id", { ...DOCUMENT, client_id: undefined }],
    ["another client id", "other-client-id", { ...DOCUMENT, client_id: `${URL_}/` }],
    ["no name", "no-name", { ...DOCUMENT, client_name: undefined }],
    ["a blank name", "no-name", { ...DOCUMENT, client_name: " \n" }],
    ["a name that is none", "no-name", { ...DOCUMENT, client_name: 1 }],
    ["a long name", "no-name", { ...DOCUMENT, client_name: "x".repeat(257) }],
    ["no redirect URIs", "no-redirect-uris", { ...DOCUMENT, redirect_uris: undefined }],
    ["an empty list of them", "no-redirect-uris", { ...DOCUMENT, redirect_uris: [] }],
    ["one that is no list", "no-redirect-uris", { ...DOCUMENT, redirect_uris: CALLBACK }],
    ["one of numbers too", "no-redirect-uris", { ...DOCUMENT, redirect_uris: [CALLBACK, 1] }],
    ["a bad one", "bad-redirect-uri", { ...DOCUMENT, redirect_uris: ["javascript:x"] }],
    ["a secret", "has-secret", { ...DOCUMENT, client_secret: "s" }],
    ["the end of a secret", "has-secret", { ...DOCUMENT, client_secret_expires_at: 0 }],
    ["no code grant", "no-code-grant", { ...DOCUMENT, grant_types: ["client_credentials"] }],
    ["grants that are no list", "no-code-grant", { ...DOCUMENT, grant_types: {} }],
    ["no code response", "no-code-grant", { ...DOCUMENT, response_types: ["token"] }],
    ["a private key", "has-private-key", { ...DOCUMENT, jwks: { keys: [{ ...JWK, d: "AA" }] } }],
    ["a shared key", "has-private-key", { ...DOCUMENT, jwks: { keys: [{ kty: "oct", k: "A" }] } }],
    ["keys that are none", "bad-keys", { ...DOCUMENT, jwks: { keys: "x" } }],
    ["no keys to sign with", "bad-keys", { ...DOCUMENT, ...SIGNING }],
    ["an empty key set", "bad-keys", { ...DOCUMENT, ...SIGNING, jwks: { keys: [] } }],
    [
      "two key sets",
      "bad-keys",
      { ...DOCUMENT, ...SIGNING, jwks: { keys: [JWK] }, jwks_uri: KEYS_AT },
    ],
    ["keys without TLS", "bad-keys", { ...DOCUMENT, ...SIGNING, jwks_uri: "http://a.example/" }],
    ["keys at no address", "bad-keys", { ...DOCUMENT, ...SIGNING, jwks_uri: "keys" }],
    [
      "keys with credentials",
      "bad-keys",
      { ...DOCUMENT, ...SIGNING, jwks_uri: "https://u@a.example/" },
    ],
    [
      "an algorithm of shared keys",
      "bad-keys",
      { ...DOCUMENT, ...SIGNING, jwks_uri: KEYS_AT, token_endpoint_auth_signing_alg: "HS256" },
    ],
    [
      "a method with a secret",
      "bad-method",
      { ...DOCUMENT, token_endpoint_auth_method: "client_secret_basic" },
    ],
    [
      "the same, among others",
      "bad-method",
      {
        ...DOCUMENT,
        token_endpoint_auth_method: "client_secret_post",
        token_endpoint_auth_methods_supported: ["none", "client_secret_post"],
      },
    ],
    [
      "a method that is not among its own",
      "bad-method",
      { ...DOCUMENT, ...SIGNING, token_endpoint_auth_methods_supported: ["none"] },
    ],
    [
      "methods unknown here",
      "bad-method",
      { ...DOCUMENT, token_endpoint_auth_method: "tls_client_auth" },
    ],
    [
      "methods that are no list",
      "bad-method",
      { ...DOCUMENT, token_endpoint_auth_methods_supported: "none" },
    ],
    ["no method", "bad-method", { ...DOCUMENT, token_endpoint_auth_methods_supported: [] }],
    [
      "two methods, and a private key all the same",
      "has-private-key",
      {
        ...DOCUMENT,
        token_endpoint_auth_methods_supported: BOTH,
        jwks: { keys: [{ kty: "AKP", priv: "AA" }] },
      },
    ],
  ];
  test.for(problems)("refuses %s: %s", ([, problem, document], { expect }) => {
    expect(parseClientDocument(URL_, document)).toEqual({ kind: "refused", problem });
  });
});

describe("the library's view of a client", () => {
  const server = new OAuthAuthorizationServer<object>({
    ...{
      issuer: "https://gateway.example",
      authorizeEndpoint: "https://gateway.example/authorize",
    },
    ...{ tokenEndpoint: "https://gateway.example/token", resources: [RESOURCE] },
  });
  /** The library as it stores and finds clients: JSON under `client:`. */
  const helpers = (client: ClientRecord) =>
    server.getOAuthApi({
      OAUTH_KV: {
        get: async (key: string) =>
          key === `client:${URL_}` ? (JSON.parse(JSON.stringify(client)) as unknown) : null,
      },
    });
  const authorize = (client: ClientRecord, redirectUri: string) => {
    const query = new URLSearchParams({
      ...{ response_type: "code", client_id: URL_, redirect_uri: redirectUri, resource: RESOURCE },
      ...{ code_challenge: "x".repeat(43), code_challenge_method: "S256", state: "s" },
    });
    const request = new Request(`https://gateway.example/authorize?${query.toString()}`);
    return helpers(client).parseAuthRequest(request);
  };

  test("is the client of the document", async ({ expect }) => {
    const client = parsed({ client_uri: "https://a.client.example/" });
    expect(await helpers(client).lookupClient(URL_)).toMatchObject({
      ...{ clientId: URL_, clientName: "A client", clientUri: "https://a.client.example/" },
      ...{ redirectUris: [CALLBACK], tokenEndpointAuthMethod: "none" },
    });
    expect(await authorize(client, CALLBACK)).toMatchObject({
      ...{ clientId: URL_, redirectUri: CALLBACK },
    });
  });

  test("has any port of a loopback URI, and nothing that is only listed", async ({ expect }) => {
    const client = parsed({
      redirect_uris: ["http://127.0.0.1/cb", "cursor://x/cb", "http://a.client.example/cb"],
    });
    expect(await authorize(client, "http://127.0.0.1:5555/cb")).toMatchObject({ clientId: URL_ });
    for (const uri of ["cursor://x/cb", "http://a.client.example/cb", "http://127.0.0.1/other"]) {
      await expect(authorize(client, uri)).rejects.toThrow("Invalid redirect URI");
    }
  });
});

describe("digestOf()", () => {
  const two = ["http://127.0.0.1/cb", CALLBACK];

  test("is the same for the same in another order, and whatever is only shown", async ({
    expect,
  }) => {
    const one = await documentDigestOf(parsed({ redirect_uris: two }));
    expect(one).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const shown = { client_uri: "https://b.client.example/", contacts: ["a"], scope: "x" };
    expect(await documentDigestOf(parsed({ redirect_uris: two.toReversed(), ...shown }))).toBe(one);
    const keys = [JWK, { ...JWK, kid: "2" }];
    const turned = keys.map((key) => Object.fromEntries(Object.entries(key).toReversed()));
    expect(await documentDigestOf(signing({ jwks: { keys: turned.toReversed() } }))).toBe(
      await documentDigestOf(signing({ jwks: { keys } })),
    );
  });

  test("is another one for another name, redirect URI, key or way to sign in", async ({
    expect,
  }) => {
    const clients = [
      parsed(),
      parsed({ client_name: "A  client" }),
      parsed({ redirect_uris: two }),
      parsed({ redirect_uris: ["https://b.client.example/cb"] }),
      signing({ jwks: { keys: [JWK] } }),
      signing({ jwks: { keys: [{ ...JWK, x: "AB" }] } }),
      signing({ jwks: { keys: [JWK, JWK] } }),
      signing({ jwks_uri: KEYS_AT }),
      signing({ jwks_uri: `${KEYS_AT}2` }),
      signing({ jwks_uri: KEYS_AT, token_endpoint_auth_methods_supported: BOTH }),
    ];
    const digests = await Promise.all(clients.map(documentDigestOf));
    expect(new Set(digests).size).toBe(clients.length);
  });
});
