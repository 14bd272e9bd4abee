/** A mistake that concerns the whole gateway is said on every route, in one plain sentence: here, and not to strangers. */

import { env } from "cloudflare:workers";
import { describe, test, vi } from "vitest";

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

  test.for([
    { from: "another host", url: "https://gw.example.com/health", headers: {} },
    { from: "another machine", url: `${ORIGIN}/health`, headers: { "CF-Ray": "1" } },
    {
      ...{ from: "behind a tunnel", url: `${ORIGIN}/mcp` },
      headers: { "X-Forwarded-For": "203.0.113.7" },
    },
  ])("is no stranger's business, from $from", async ({ url, headers }, { expect }) => {
    const vars = { AUTH_MODE: "open", LIMITS: { a: 1 } };
    const response = await worker.fetch(new Request(url, { headers }), { ...env, ...vars });
    expect(response.status).toBe(503);
    expect(await response.text()).toBe(
      "This gateway has mistakes in its configuration. Its operator finds them in its log.\n",
    );
  });

  test("is logged once, with each sentence", async ({ expect }) => {
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const vars = { ...env, LIMITS: { a: 1 }, ALLOWED_ORIGINS: "x" };
    for (let n = 0; n < 3; n++) await worker.fetch(new Request(`${ORIGIN}/health`), vars);
    const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)) as unknown);
    log.mockRestore();
    expect(lines).toMatchObject([
      { event: "configuration", message: expect.stringMatching(/^LIMITS.a /) },
      { event: "configuration", message: expect.stringMatching(/^ALLOWED_ORIGINS /) },
    ]);
  });

  test("is answered with a sentence for each one", async ({ expect }) => {
    const vars = { AUTH_MODE: "?", LIMITS: { a: 1 }, MCP_SERVERS: "[]" };
    const response = await worker.fetch(new Request(`${ORIGIN}/health`), { ...env, ...vars });
    expect(response.status).toBe(503);
    expect((await response.text()).trim().split("\n")).toHaveLength(3);
  });
});
