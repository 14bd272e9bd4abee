/** The authorization server's metadata (RFC 8414). */

import { describe, test } from "vitest";

import { gateway, ORIGIN } from "./gateway.ts";

const URL_OF_IT = `${ORIGIN}/.well-known/oauth-authorization-server`;
const { send } = gateway;
const METHODS = ["client_secret_basic", "client_secret_post", "none", "private_key_jwt"];

describe("the metadata document", () => {
  test("B1: is exactly this, and names no upstream", async ({ expect }) => {
    const response = await send(URL_OF_IT);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      issuer: ORIGIN,
      authorization_endpoint: `${ORIGIN}/authorize`,
      token_endpoint: `${ORIGIN}/token`,
      registration_endpoint: `${ORIGIN}/register`,
      revocation_endpoint: `${ORIGIN}/token`,
      scopes_supported: ["mcp"],
      response_types_supported: ["code"],
      response_modes_supported: ["query"],
      grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: METHODS,
      token_endpoint_auth_signing_alg_values_supported: ["ES256", "RS256", "EdDSA", "PS256"],
      revocation_endpoint_auth_methods_supported: METHODS,
      revocation_endpoint_auth_signing_alg_values_supported: ["ES256", "RS256", "EdDSA", "PS256"],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    });
  });

  test("B1: is JSON that may be cached for five minutes", async ({ expect }) => {
    const { headers } = await send(URL_OF_IT);
    expect([...headers]).toEqual([
      ["cache-control", "public, max-age=300"],
      ["content-type", "application/json"],
    ]);
  });

  test("B13: is the same, byte for byte, whatever host a request names", async ({ expect }) => {
    const headers = {
      "X-Forwarded-Host": "evil.example",
      "X-Forwarded-Proto": "http",
      Forwarded: "host=evil.example;proto=http",
    };
    const [plain, forged] = await Promise.all([send(URL_OF_IT), send(URL_OF_IT, { headers })]);
    expect(await forged.text()).toBe(await plain.text());
    expect([...forged.headers]).toEqual([...plain.headers]);
  });
});

describe("the metadata document exists at no other address:", () => {
  test.for([
    "/.well-known/oauth-authorization-server/mcp",
    "/.well-known/oauth-authorization-server/mcp/alpha",
    "/.well-known/oauth-authorization-server/sse",
    "/.well-known/oauth-authorization-server/",
    "/.well-known/openid-configuration",
    "/.well-known/openid-configuration/mcp",
    "/.well-known/xyz",
    "/mcp/.well-known/openid-configuration",
    "/mcp/.well-known/oauth-authorization-server",
    "/sse/.well-known/oauth-authorization-server",
  ])("B3, B8: %s", async (path, { expect }) => {
    // As a browser would ask, too: a client that gets a page takes it for a document.
    for (const accept of ["application/json", "*/*", ""]) {
      const response = await send(ORIGIN + path, { headers: { accept } });
      expect([response.status, response.headers.get("content-type")]).toEqual([
        404,
        expect.not.stringContaining("html"),
      ]);
      await response.body?.cancel();
    }
  });
});

test("every page may read the metadata document", async ({ expect }) => {
  const { headers } = await send(URL_OF_IT, { headers: { Origin: "https://evil.example" } });
  expect(headers.get("access-control-allow-origin")).toBe("*");
  expect(headers.has("access-control-allow-credentials")).toBe(false);
});

describe("as a method of the metadata document,", () => {
  test("B2: HEAD answers like GET, without the body", async ({ expect }) => {
    const [got, head] = [await send(URL_OF_IT), await send(URL_OF_IT, { method: "HEAD" })];
    expect([head.status, [...head.headers], await head.text()]).toEqual([
      200,
      [...got.headers],
      "",
    ]);
  });

  test.for(["POST", "PUT", "DELETE"])("B2: %s is refused", async (method, { expect }) => {
    const response = await send(URL_OF_IT, { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect(await response.json()).toMatchObject({ error: "invalid_request" });
  });
});
