/**
 * Protected-resource metadata: the resource to request a token for, and its authorization server
 * (RFC 9728).
 */

import { describe, test } from "vitest";

import { post, send } from "../integration/client.ts";
import { ORIGIN } from "./gateway.ts";

const AT = `${ORIGIN}/.well-known/oauth-protected-resource`;

async function jsonAt(url: string, init?: RequestInit): Promise<unknown> {
  const response = await send(url, init);
  return [response.status, response.headers.get("content-type"), await response.json()];
}

function documentOf(resource: string, scope: string, name: string): unknown {
  return [
    200,
    "application/json",
    {
      ...{ resource, authorization_servers: [ORIGIN], scopes_supported: [scope] },
      ...{ bearer_methods_supported: ["header"], resource_name: name },
    },
  ];
}

describe("each endpoint has its metadata document:", () => {
  test.for([
    ["B4", "/mcp", "mcp", "Edgeway"],
    ["B6", "/mcp/alpha", "mcp:alpha", "Edgeway: alpha"],
    ["B6", "/mcp/beta", "mcp:beta", "Edgeway: beta"],
    ["B4", "/sse", "mcp", "Edgeway"],
    ["B6", "/sse/alpha", "mcp:alpha", "Edgeway: alpha"],
    ["B4", "/admin", "admin", "Edgeway"],
  ] as const)("%s: %s", async ([, path, scope, name], { expect }) => {
    expect(await jsonAt(AT + path)).toEqual(documentOf(ORIGIN + path, scope, name));
  });

  test("B5: the document at the root is that of /mcp", async ({ expect }) => {
    expect(await jsonAt(AT)).toEqual(await jsonAt(`${AT}/mcp`));
  });

  test("B7: an endpoint that does not exist has none", async ({ expect }) => {
    const paths = ["/mcp/nobody", "/sse/nobody", "/mcp/", "/mcp/alpha/", "/", "//mcp", "/token"];
    const others = [
      "/mcp/Alpha",
      "/mcp/alpha%2f",
      "/mcp/%61lpha",
      "/sse/message",
      "/sse/alpha/message",
    ];
    for (const path of [...paths, ...others]) {
      const answer = await jsonAt(AT + path);
      expect([path, answer]).toEqual([
        path,
        [404, "application/json", { error: "not_found", error_description: expect.any(String) }],
      ]);
    }
  });

  test("a document does not depend on the request, and every page may read it", async ({
    expect,
  }) => {
    const headers = {
      ...{ "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "http", Origin: "null" },
      ...{ Forwarded: "host=evil.example", Authorization: "Bearer garbage" },
    };
    const response = await send(`${AT}/mcp?resource=https://evil.example`, { headers });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.has("access-control-allow-credentials")).toBe(false);
    expect(await response.text()).toBe(await (await send(`${AT}/mcp`)).text());
  });

  test("a document can only be read", async ({ expect }) => {
    const head = await send(`${AT}/mcp`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    for (const method of ["POST", "PUT", "DELETE"]) {
      const refused = await send(`${AT}/mcp`, { method });
      expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
      await refused.text();
    }
  });
});

describe("an address that a client guesses is answered with JSON, never with a page", () => {
  test.for(["openid-configuration", "xyz", "oauth-protected-resources", "", "a/b/c"])(
    "B3: /.well-known/%s",
    async (name, { expect }) => {
      const init = { headers: { Accept: "text/html" } };
      expect(await jsonAt(`${ORIGIN}/.well-known/${name}`, init)).toMatchObject([
        404,
        "application/json",
        { error: "not_found" },
      ]);
    },
  );

  test.for([
    "/mcp/.well-known/oauth-authorization-server",
    "/mcp/.well-known/oauth-protected-resource",
    "/mcp/alpha/.well-known/openid-configuration",
    "/sse/.well-known/oauth-protected-resource",
  ])("B8: %s", async (path, { expect }) => {
    const response = await send(ORIGIN + path);
    expect([401, 404]).toContain(response.status);
    expect(response.headers.get("content-type")).not.toContain("html");
    await response.text();
  });
});

test("B9: the challenge of an endpoint names its document", async ({ expect }) => {
  for (const path of ["/mcp", "/mcp/alpha", "/sse", "/sse/beta"]) {
    const refused = await post(ORIGIN + path, {});
    const challenge = refused.headers.get("www-authenticate") ?? "";
    const [, url = ""] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
    const [status, , document] = (await jsonAt(url)) as [number, string, { resource: string }];
    expect([refused.status, status, document.resource]).toEqual([401, 200, ORIGIN + path]);
  }
});
