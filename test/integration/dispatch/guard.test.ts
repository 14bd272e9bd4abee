/** What is refused before anything is served: hosts and origins; and what a browser is told. */

import { describe, test } from "vitest";

import { initializeMessage, modernCall, post, send } from "../client.ts";
import { Upstream } from "../upstream.ts";

const ROUTES = ["/", "/health", "/mcp", "/mcp/nobody", "/sse", "/sse/message", "/nowhere"] as const;

describe("B16: a host", () => {
  test.for(["localhost", "localhost:9000", "127.0.0.1:8787", "127.8.9.10", "[::1]:8787"])(
    "%s is served",
    async (host, { expect }) => {
      const response = await send(`http://${host}/health`);
      expect(await response.json()).toMatchObject({ status: "ok" });
    },
  );

  test.for([
    "evil.example.com",
    "evil.example.com:8787",
    "localhost.evil.example.com",
    "127.0.0.1.nip.example.com",
    "192.168.1.1",
    "0.0.0.0",
    "[::ffff:10.0.0.1]",
    "app.example.com",
  ])("%s is refused with 503 in plain words", async (host, { expect }) => {
    for (const route of ROUTES) {
      const response = await send(`http://${host}${route}`);
      expect(response.status).toBe(503);
      expect(response.headers.get("content-type")).toContain("text/plain");
      expect(await response.text()).toMatch(/^This gateway has no sign-in [^\n]*\n$/);
    }
  });
});

describe("B16: an origin", () => {
  const ALLOWED = [
    "http://localhost:6274",
    "http://127.0.0.1:1234",
    "https://localhost",
    "http://[::1]:5173",
    "https://app.example.com",
  ];
  test.for(ALLOWED)("%s may read the answers", async (origin, { expect }) => {
    const upstream = await Upstream.take({ server: "dual" });
    for (const response of [
      await post(upstream.mcp, initializeMessage(), { Origin: origin }),
      await post(upstream.mcp, "{", { Origin: origin }),
      await modernCall(upstream, { headers: { Origin: origin } }),
      await send("/health", { headers: { Origin: origin } }),
      await send("/nowhere", { headers: { Origin: origin } }),
    ]) {
      expect(response.headers.get("access-control-allow-origin")).toBe(origin);
      expect(response.headers.get("access-control-expose-headers")).toContain("Mcp-Session-Id");
      expect(response.headers.get("vary")).toContain("Origin");
      await response.text();
    }
  });

  test.for([
    "https://evil.example.com",
    "http://evil.example.com",
    "null",
    "http://localhost.evil.example.com",
    "https://app.example.com.evil.example.com",
    "http://app.example.com",
    "https://app.example.com:8443",
    "file://",
    "not an origin",
  ])("%j is refused with 403, whatever it asks", async (origin, { expect }) => {
    const upstream = await Upstream.take({ server: "dual" });
    for (const route of [...ROUTES, upstream.mcp, upstream.sse]) {
      for (const method of ["GET", "POST", "DELETE", "OPTIONS"]) {
        const response = await send(route, { method, headers: { Origin: origin } });
        expect([route, method, response.status]).toEqual([route, method, 403]);
        expect(response.headers.has("access-control-allow-origin")).toBe(false);
        const { error, ...rest } = await response.json<{ error: { message: string } }>();
        expect([error.message, rest]).toEqual([
          expect.stringMatching(/^This origin is not allowed here/),
          { jsonrpc: "2.0" },
        ]);
      }
    }
    expect(await upstream.log()).toHaveLength(0);
  });

  test("is optional, and without one there are no CORS headers", async ({ expect }) => {
    const response = await send("/health");
    expect(response.headers.has("access-control-allow-origin")).toBe(false);
    await response.text();
  });
});

describe("OPTIONS", () => {
  test.for(ROUTES)(
    "%s is answered with 204 and what a browser may send",
    async (route, { expect }) => {
      const response = await send(route, {
        method: "OPTIONS",
        headers: { Origin: "http://localhost:1" },
      });
      expect([response.status, await response.text()]).toEqual([204, ""]);
      expect(response.headers.get("access-control-allow-origin")).toBe("http://localhost:1");
      expect(response.headers.get("access-control-allow-methods")).toBe(
        "GET, POST, DELETE, OPTIONS",
      );
      const allowed = response.headers.get("access-control-allow-headers")?.split(", ");
      expect(allowed).toEqual(
        expect.arrayContaining([
          "content-type",
          "authorization",
          "mcp-session-id",
          "mcp-protocol-version",
          "last-event-id",
          "mcp-method",
          "mcp-name",
        ]),
      );
      expect(allowed).not.toContain("*");
    },
  );

  test("allows the headers that were asked for, and no others", async ({ expect }) => {
    const response = await send("/mcp", {
      method: "OPTIONS",
      headers: {
        Origin: "http://localhost:1",
        "Access-Control-Request-Headers": "Mcp-Param-Region, content-type,X-Evil, cookie",
      },
    });
    expect(response.headers.get("access-control-allow-headers")).toBe(
      "mcp-param-region, content-type",
    );
  });
});
