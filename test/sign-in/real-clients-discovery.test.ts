/**
 * Where real clients look before they have a token, and from where: every guess leads on to the
 * right document, and a client in a browser can read all of it.
 */

import { discoverOAuthServerInfo as byV2 } from "@modelcontextprotocol/client";
import { discoverOAuthServerInfo as byV1 } from "@modelcontextprotocol/sdk/client/auth.js";
import { describe, test } from "vitest";

import { initializeMessage, post, send } from "../integration/client.ts";
import { ORIGIN } from "./gateway.ts";

const RESOURCE = "/.well-known/oauth-protected-resource";
const SERVER = "/.well-known/oauth-authorization-server";
const OPENID = "/.well-known/openid-configuration";
const ENDPOINTS = ["/mcp", "/mcp/alpha", "/sse", "/sse/alpha"] as const;

/** Everywhere that some client looks for a document, knowing nothing but the URL of an endpoint. */
function guesses(endpoint: string): readonly string[] {
  return [RESOURCE, SERVER, OPENID].flatMap((document) => [
    ...[document, `${document}/`, `${document}?from=plugin`],
    ...[document + endpoint, `${document}${endpoint}/`, `${document}${endpoint}?from=plugin`],
    ...[endpoint + document, `${endpoint}/${document}`, `${endpoint}${document}/`],
  ]);
}

describe("for a client that guesses the address,", () => {
  test.for(ENDPOINTS)(
    "a guess at the documents of %s gets the right document or 404",
    async (endpoint, { expect }) => {
      const right = [RESOURCE, RESOURCE + endpoint, SERVER];
      for (const path of guesses(endpoint)) {
        const isRight = right.includes(path.replace("?from=plugin", ""));
        for (const accept of ["application/json", "*/*", "text/html,*/*;q=0.8"]) {
          const response = await send(ORIGIN + path, { headers: { Accept: accept } });
          // A page would be read as a broken document, and 401 as a sign-in within a sign-in.
          expect([path, response.status]).toEqual([path, isRight ? 200 : 404]);
          const text = await response.text();
          if (!isRight) continue;
          expect(response.headers.get("content-type")).toBe("application/json");
          const { issuer, authorization_servers } = JSON.parse(text) as Record<string, unknown>;
          expect(issuer ?? authorization_servers).toEqual(issuer === undefined ? [ORIGIN] : ORIGIN);
        }
      }
    },
  );
});

/** What a client asks for, and what it is answered. */
function recording(): { asked: [string, number][]; fetchFn: typeof fetch } {
  const asked: [string, number][] = [];
  return {
    asked,
    fetchFn: async (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input);
      const response = await send(url.href, init);
      asked.push([url.pathname, response.status]);
      return response;
    },
  };
}

describe("the official SDK finds both documents at once", () => {
  test.for(ENDPOINTS.flatMap((path) => [["1", path, byV1] as const, ["2", path, byV2] as const]))(
    "with version %s, of %s",
    async ([, path, discover], { expect }) => {
      const { asked, fetchFn } = recording();
      const found = await discover(ORIGIN + path, { fetchFn });
      expect(found).toMatchObject({
        authorizationServerUrl: ORIGIN,
        authorizationServerMetadata: { issuer: ORIGIN, token_endpoint: `${ORIGIN}/token` },
        resourceMetadata: { resource: ORIGIN + path },
      });
      expect(asked).toEqual([
        [RESOURCE + path, 200],
        [SERVER, 200],
      ]);
    },
  );

  test.for([["1", byV1] as const, ["2", byV2] as const])(
    "with version %s, of the bare origin, where the endpoint is /mcp",
    async ([, discover], { expect }) => {
      const { fetchFn } = recording();
      const found = await discover(ORIGIN, { fetchFn });
      expect(found.resourceMetadata?.resource).toBe(`${ORIGIN}/mcp`);
    },
  );
});

/** What a request for a document is answered, and what the document says of whom it is about. */
async function probe(path: string): Promise<readonly [number, unknown]> {
  const response = await send(ORIGIN + path, { headers: { Accept: "*/*" } });
  if (!response.ok) return [response.status, await response.text().then(() => undefined)];
  const { resource, issuer } = await response.json<Record<string, unknown>>();
  return [response.status, resource ?? issuer];
}

describe("other orders of discovery work:", () => {
  test("Claude: first the endpoint's document, then the root's and the server's", async ({
    expect,
  }) => {
    expect(await probe(`${RESOURCE}/mcp`)).toEqual([200, `${ORIGIN}/mcp`]);
    expect(await probe(RESOURCE)).toEqual([200, `${ORIGIN}/mcp`]);
    expect(await probe(SERVER)).toEqual([200, ORIGIN]);
  });

  test.for(ENDPOINTS)(
    "Gemini CLI and VS Code refuse a resource other than the requested one: %s",
    async (path, { expect }) => {
      expect(await probe(RESOURCE + path)).toEqual([200, ORIGIN + path]);
    },
  );

  test("Gemini CLI without the resource's document: four guesses", async ({ expect }) => {
    const order = [`${SERVER}/mcp`, `${OPENID}/mcp`, `/mcp${OPENID}`, SERVER];
    const answers = await Promise.all(order.map(probe));
    expect(answers.map(([status]) => status)).toEqual([404, 404, 404, 200]);
  });
});

describe("the Inspector, in a browser", () => {
  const headers = { Origin: "http://localhost:6274" };

  test.for([
    ...guesses("/mcp").map((path) => ["GET", path] as const),
    ["POST", "/register"] as const,
    ["POST", "/token"] as const,
  ])("%s %s", async ([method, path], { expect }) => {
    const asking = "authorization,content-type,mcp-protocol-version";
    const preflight = await send(ORIGIN + path, {
      method: "OPTIONS",
      headers: {
        ...{ ...headers, "Access-Control-Request-Method": method },
        "Access-Control-Request-Headers": asking,
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-methods")).toContain(method);
    expect(preflight.headers.get("access-control-allow-headers")).toBe(
      asking.replaceAll(",", ", "),
    );
    const response = await send(ORIGIN + path, { method, headers });
    for (const { headers: answered } of [preflight, response]) {
      expect(["*", headers.Origin]).toContain(answered.get("access-control-allow-origin"));
    }
    await response.text();
  });

  test.for(["POST", "GET", "DELETE"])("%s /mcp", async (method, { expect }) => {
    const asking = [
      ...["authorization", "content-type", "accept", "last-event-id", "mcp-method"],
      ...["mcp-name", "mcp-protocol-version", "mcp-session-id", "mcp-param-city"],
    ];
    const preflight = await send(`${ORIGIN}/mcp`, {
      method: "OPTIONS",
      headers: {
        ...{ ...headers, "Access-Control-Request-Method": method },
        "Access-Control-Request-Headers": asking.join(","),
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-methods")).toContain(method);
    const allowed = preflight.headers.get("access-control-allow-headers")?.split(", ");
    expect(allowed?.toSorted()).toEqual(asking.toSorted());
    expect(preflight.headers.get("access-control-allow-origin")).toBe(headers.Origin);
  });

  test("reads the challenge, and the id of its session", async ({ expect }) => {
    const response = await post(`${ORIGIN}/mcp`, initializeMessage(), headers);
    expect(response.status).toBe(401);
    expect(response.headers.get("access-control-allow-origin")).toBe(headers.Origin);
    const exposed = response.headers.get("access-control-expose-headers")?.split(", ");
    expect(exposed).toEqual(expect.arrayContaining(["Mcp-Session-Id", "WWW-Authenticate"]));
    await response.text();
  });
});
