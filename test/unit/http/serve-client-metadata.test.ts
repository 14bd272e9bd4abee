/** The document by which authorization servers know the gateway: found without a login, with no secret in it. */

import { describe, test } from "vitest";

import { guard } from "../../../src/http/guard.ts";
import { serveClientMetadata } from "../../../src/http/serve-client-metadata.ts";

const ORIGIN = "https://mcp.example.com";
const PATH = "/oauth/client-metadata.json";

function request(method = "GET", origin = ORIGIN): Request {
  return new Request(origin + PATH, { method, headers: { Origin: "https://as.example" } });
}

describe("U12: the client metadata document", () => {
  test("is about its own URL, and lists the callback of each server", async ({ expect }) => {
    const response = serveClientMetadata(ORIGIN, ["github", "linear"], request());
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("cache-control")).toBe("public, max-age=3600");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("set-cookie")).toBeNull();
    expect(await response.json()).toEqual({
      client_id: ORIGIN + PATH,
      client_name: "Edgeway (mcp.example.com)",
      client_uri: ORIGIN,
      redirect_uris: [
        `${ORIGIN}/oauth/upstream/github/callback`,
        `${ORIGIN}/oauth/upstream/linear/callback`,
      ],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    });
  });

  test("is small enough for fifty servers (5 KiB)", async ({ expect }) => {
    const slugs = Array.from({ length: 50 }, (_, n) => `server-with-a-name-${n}`);
    const { byteLength } = await serveClientMetadata(ORIGIN, slugs, request()).arrayBuffer();
    expect(byteLength).toBeLessThan(5 * 1024);
  });

  test.for(["http://localhost:8787", "https://localhost", "http://127.0.0.1:8787"])(
    "is not there at %s, where no authorization server could read it",
    (origin, { expect }) => {
      expect(serveClientMetadata(origin, ["s"], request("GET", origin)).status).toBe(404);
    },
  );

  test("is not there where no server needs it, and only read", async ({ expect }) => {
    expect(serveClientMetadata(ORIGIN, [], request()).status).toBe(404);
    expect(serveClientMetadata(ORIGIN, ["s"], request("POST")).status).toBe(405);
    const head = serveClientMetadata(ORIGIN, ["s"], request("HEAD"));
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  test("may be read from any origin", ({ expect }) => {
    const allowedOrigins = new Set<string>();
    const policy = { authMode: "oauth", publicOrigin: ORIGIN, allowedOrigins } as const;
    expect(guard(request(), policy)).toBeUndefined();
  });
});
