/** A broken configuration is said on every route, in one plain sentence for each mistake. */

import { env } from "cloudflare:workers";
import { describe, test } from "vitest";

import worker from "../../../src/index.ts";
import { ORIGIN } from "../client.ts";

const ROUTES = ["/", "/health", "/mcp", "/mcp/nobody", "/sse", "/sse/message", "/nowhere"] as const;

describe("a mistake in the configuration", () => {
  const MISTAKES: readonly {
    name: string;
    vars: Record<string, unknown>;
    says: readonly string[];
  }[] = [
    {
      name: "an unknown provider",
      vars: { IDENTITY: { provider: "nobody" } },
      says: ["IDENTITY"],
    },
    { name: "another AUTH_MODE", vars: { AUTH_MODE: "open" }, says: ["AUTH_MODE", "none"] },
    { name: "broken JSON", vars: { MCP_SERVERS: "{" }, says: ["MCP_SERVERS"] },
    { name: "a list of servers", vars: { MCP_SERVERS: "[]" }, says: ["MCP_SERVERS"] },
    {
      name: "a bad slug",
      vars: { MCP_SERVERS: { "Bad Slug": { url: "http://localhost" } } },
      says: ["MCP_SERVERS.Bad Slug", "slug"],
    },
    { name: "no url", vars: { MCP_SERVERS: { a: {} } }, says: ["MCP_SERVERS.a", "url"] },
    {
      name: "a url that is none",
      vars: { MCP_SERVERS: { a: { url: "ftp://x" } } },
      says: ["MCP_SERVERS.a.url", "http"],
    },
    {
      name: "credentials in a url",
      vars: { MCP_SERVERS: { a: { url: "https://u:TOP-SECRET@x" } } },
      says: ["MCP_SERVERS.a.url", "headers"],
    },
    {
      name: "an unknown field",
      vars: { MCP_SERVERS: { a: { url: "http://x", colour: "red" } } },
      says: ["MCP_SERVERS.a", "colour"],
    },
    {
      name: "a missing secret",
      vars: { MCP_SERVERS: { a: { url: "http://x", headers: { K: "TOP-SECRET ${NOT_SET}" } } } },
      says: ["MCP_SERVERS.a.headers.K", "NOT_SET"],
    },
    {
      name: "a missing service",
      vars: { MCP_SERVERS: { a: { service: "NOBODY" } } },
      says: ["MCP_SERVERS.a.service", "NOBODY"],
    },
    {
      name: "an unknown limit",
      vars: { LIMITS: { maxFun: 1 } },
      says: ["LIMITS.maxFun", "maxBodyBytes"],
    },
    {
      name: "B94: an owner's code that anybody guesses",
      vars: {
        ...{ AUTH_MODE: "oauth", PUBLIC_ORIGIN: ORIGIN.replace("http:", "https:") },
        OWNER_CODE: "changeme",
      },
      says: ["OWNER_CODE"],
    },
    {
      name: "a limit out of range",
      vars: { LIMITS: { keepAliveSeconds: 0 } },
      says: ["LIMITS.keepAliveSeconds", "1", "300"],
    },
    {
      name: "an origin with a path",
      vars: { PUBLIC_ORIGIN: "https://x.example.com/a" },
      says: ["PUBLIC_ORIGIN"],
    },
    {
      name: "origins that are no list",
      vars: { ALLOWED_ORIGINS: "https://x" },
      says: ["ALLOWED_ORIGINS"],
    },
  ];

  test.for(MISTAKES)(
    "$name is answered 503 on every route, in one sentence",
    async ({ vars, says }, { expect }) => {
      for (const route of ROUTES) {
        for (const method of ["GET", "POST", "OPTIONS"]) {
          const request = new Request(ORIGIN + route, { method });
          const response = await worker.fetch(request, { ...env, ...vars });
          expect([route, method, response.status]).toEqual([route, method, 503]);
          const text = await response.text();
          expect(text.trim().split("\n")).toHaveLength(1);
          for (const words of says) expect(text).toContain(words);
          expect(text).not.toContain("TOP-SECRET");
        }
      }
    },
  );

  test("is answered with a sentence for each one", async ({ expect }) => {
    const vars = { AUTH_MODE: "?", LIMITS: { a: 1 }, MCP_SERVERS: { b: {} } };
    const response = await worker.fetch(new Request(`${ORIGIN}/health`), { ...env, ...vars });
    expect(response.status).toBe(503);
    expect((await response.text()).trim().split("\n")).toHaveLength(3);
  });
});
