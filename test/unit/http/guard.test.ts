/** Hosts, origins, and the CORS headers (2025-11-25 and 2026-07-28: MUST 403 a bad Origin). */

import { describe, test } from "vitest";

import { addCors, guard, type GuardPolicy, preflight } from "../../../src/http/guard.ts";

const local: GuardPolicy = {
  publicOrigin: undefined,
  allowedOrigins: new Set(),
  authMode: "none",
};
const deployed: GuardPolicy = {
  publicOrigin: "https://mcp.example.com",
  allowedOrigins: new Set(["https://app.example.com"]),
  authMode: "oauth",
};

interface Row {
  readonly url: string;
  readonly origin?: string;
  /** `undefined`: it may pass. */
  readonly status: number | undefined;
}

function check(policy: GuardPolicy, { url, origin }: Row): Response | undefined {
  const headers = origin === undefined ? {} : { Origin: origin };
  return guard(new Request(url, { headers }), policy);
}

describe("without sign-in", () => {
  const rows: readonly Row[] = [
    { url: "http://localhost:8787/mcp", status: undefined },
    { url: "http://LOCALHOST/mcp", status: undefined },
    { url: "http://127.0.0.1:8787/mcp", status: undefined },
    { url: "http://127.8.9.1/mcp", status: undefined },
    { url: "http://127.1/mcp", status: undefined },
    { url: "http://[::1]:8787/mcp", status: undefined },
    { url: "http://evil.example/mcp", status: 503 },
    { url: "http://localhost.evil.example/mcp", status: 503 },
    { url: "http://127.0.0.1.evil.example/mcp", status: 503 },
    { url: "http://evil-localhost/mcp", status: 503 },
    { url: "http://10.0.0.1/mcp", status: 503 },
    { url: "http://0.0.0.0/mcp", status: 503 },
    { url: "http://[::]/mcp", status: 503 },
    { url: "http://localhost/mcp", origin: "http://localhost:6274", status: undefined },
    { url: "http://localhost/mcp", origin: "http://127.0.0.1:3000", status: undefined },
    { url: "http://localhost/mcp", origin: "http://[::1]", status: undefined },
    { url: "http://localhost/mcp", origin: "http://evil.example", status: 403 },
    { url: "http://localhost/mcp", origin: "http://localhost.evil.example", status: 403 },
    { url: "http://localhost/mcp", origin: "null", status: 403 },
    // Browsers send it with a form of a page of ours, whose token decides.
    { url: "http://localhost/catalog/a/b", origin: "null", status: undefined },
    { url: "http://localhost/catalogs/a/b", origin: "null", status: 403 },
    { url: "http://localhost/mcp", origin: "localhost", status: 403 },
    { url: "http://evil.example/mcp", origin: "http://evil.example", status: 403 },
    { url: "http://evil.example/mcp", origin: "http://localhost", status: 403 },
  ];
  test.for(rows)("$url from $origin: $status", (row, { expect }) => {
    expect(check(local, row)?.status).toBe(row.status);
  });

  test.for([
    ["X-Forwarded-For", "127.0.0.1", undefined],
    ["X-Forwarded-For", "::1, 127.0.0.1", undefined],
    ["X-Forwarded-For", "::ffff:127.0.0.1", undefined],
    ["X-Forwarded-For", "127.0.0.1:5000, [::1]:5000", undefined],
    ["X-Forwarded-For", "203.0.113.9", 503],
    ["X-Forwarded-For", "127.0.0.1, 203.0.113.9", 503],
    ["X-Forwarded-For", "203.0.113.9, 127.0.0.1", 503],
    ["X-Forwarded-For", "2001:db8::1", 503],
    ["X-Forwarded-For", "unknown", 503],
    ["X-Forwarded-For", "", 503],
    ["X-Real-IP", "127.0.0.1", undefined],
    ["X-Real-IP", "203.0.113.9", 503],
    ["X-Forwarded-Host", "localhost:8787", undefined],
    ["X-Forwarded-Host", "Abc.tunnel.example", 503],
    ["X-Forwarded-Host", "localhost.evil.example:8787", 503],
    ["CF-Connecting-IP", "127.0.0.1", undefined],
    ["CF-Connecting-IP", "::1", undefined],
    ["CF-Connecting-IP", "::ffff:127.0.0.1", undefined],
    ["CF-Connecting-IP", "192.168.1.20", 503],
    ["CF-Connecting-IP", "2001:db8::1", 503],
    ["Forwarded", "for=127.0.0.1;host=localhost:8787;proto=http;by=_edge", undefined],
    ["Forwarded", 'for="[::1]:5000", For=127.0.0.1', undefined],
    ["Forwarded", "proto=https;for=203.0.113.9", 503],
    ["Forwarded", 'for="[2001:db8::1]:5000"', 503],
    ["Forwarded", "for=127.0.0.1, for=_hidden", 503],
    ["Forwarded", "for=127.0.0.1;host=abc.tunnel.example", 503],
  ] as const)("what has come with %s: %s: %s", ([name, value, status], { expect }) => {
    const headers = { [name]: value };
    const request = new Request("http://localhost:8787/mcp", { headers });
    expect(guard(request, local)?.status).toBe(status);
    // With sign-in it is the token that counts.
    expect(guard(request, { ...deployed, publicOrigin: undefined })).toBe(undefined);
  });

  test("requests over the platform's network are from another machine", ({ expect }) => {
    const headers = { "CF-Ray": "8f0000000000-FRA" };
    expect(guard(new Request("http://localhost/mcp", { headers }), local)?.status).toBe(503);
  });
});

describe("with sign-in, at a public origin", () => {
  const mcp = "https://mcp.example.com/mcp";
  const rows: readonly Row[] = [
    { url: mcp, status: undefined },
    { url: mcp, origin: "https://mcp.example.com", status: undefined },
    { url: mcp, origin: "https://app.example.com", status: undefined },
    { url: mcp, origin: "https://claude.ai", status: undefined },
    { url: mcp, origin: "https://chatgpt.com", status: undefined },
    { url: mcp, origin: "http://localhost:6274", status: undefined },
    { url: mcp, origin: "http://127.0.0.1:6274", status: undefined },
    { url: mcp, origin: "http://app.example.com", status: 403 },
    { url: mcp, origin: "http://claude.ai", status: 403 },
    { url: mcp, origin: "https://claude.ai.evil.example", status: 403 },
    { url: mcp, origin: "https://evil.claude.ai", status: 403 },
    { url: mcp, origin: "https://app.example.com:8443", status: 403 },
    { url: mcp, origin: "https://app.example.com.evil.example", status: 403 },
    { url: mcp, origin: "https://evil.example", status: 403 },
    { url: mcp, origin: "null", status: 403 },
    { url: mcp, origin: "", status: 403 },
    { url: "https://mcp.example.com/sse", origin: "https://evil.example", status: 403 },
    { url: "https://mcp.example.com/sse/a/message", origin: "null", status: 403 },
    { url: "https://mcp.example.com/%6dcp", origin: "null", status: 403 },
    { url: "https://mcp.example.com/nowhere", origin: "null", status: 403 },
    { url: "https://mcp.example.com/token", origin: "https://evil.example", status: undefined },
    { url: "https://mcp.example.com/register", origin: "null", status: undefined },
    { url: "https://mcp.example.com/.well-known/x/y", origin: "null", status: undefined },
    { url: "https://mcp.example.com/token/x", origin: "null", status: 403 },
    { url: "https://mcp.example.com/", origin: "null", status: undefined },
    {
      url: "https://mcp.example.com/callback/idp",
      origin: "https://idp.example",
      status: undefined,
    },
    { url: "https://mcp.example.com/setup", origin: "null", status: undefined },
    { url: "https://mcp.example.com/account/keys", origin: "null", status: undefined },
    { url: "https://mcp.example.com/accounts", origin: "null", status: 403 },
    { url: mcp, origin: "https://claude.ai:8443", status: 403 },
    { url: "https://mcp.example.com:8443/mcp", status: 421 },
    { url: "https://other.example.com/mcp", status: 421 },
    { url: "https://mcp.example.com.evil.example/token", status: 421 },
    { url: "https://edgeway.workers.dev/mcp", origin: "https://mcp.example.com", status: 421 },
    { url: "http://localhost:8787/mcp", status: 421 },
    { url: "https://localhost/debug/costs", status: 421 },
    { url: "http://127.0.0.1:8787/token", status: 421 },
    { url: "http://[::1]/", status: 421 },
    { url: "http://evil.example/mcp", status: 421 },
    // The process that has started it asks whether it is up.
    { url: "http://localhost:8787/health", status: undefined },
    { url: "http://127.0.0.1:8787/health", status: undefined },
    { url: "http://localhost:8787/health/", status: 421 },
    { url: "http://evil.example/health", status: 421 },
  ];
  test.for(rows)("$url from $origin: $status", (row, { expect }) => {
    expect(check(deployed, row)?.status).toBe(row.status);
  });

  test("requests in the clear are redirected to https, or refused when they already have done harm", async ({
    expect,
  }) => {
    const url = "http://mcp.example.com/mcp?x=%2f..";
    for (const method of ["GET", "HEAD"]) {
      const led = guard(new Request(url, { method }), deployed);
      expect([led?.status, led?.headers.get("location")]).toEqual([
        308,
        "https://mcp.example.com/mcp?x=%2f..",
      ]);
    }
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      expect(guard(new Request(url, { method }), deployed)?.status).toBe(403);
    }
    const inTheClear = { ...deployed, publicOrigin: "http://mcp.example.com" };
    expect(check(inTheClear, { url: "http://mcp.example.com/mcp", status: undefined })).toBe(
      undefined,
    );
  });

  test("forwarding headers of a proxy are ignored", ({ expect }) => {
    const claims = {
      "X-Forwarded-Host": "mcp.example.com",
      "X-Forwarded-Proto": "https",
      Forwarded: "host=mcp.example.com;proto=https",
    };
    const at = (url: string) => guard(new Request(url, { headers: claims }), deployed)?.status;
    expect(at("https://evil.example/mcp")).toBe(421);
    expect(at("http://mcp.example.com/mcp")).toBe(308);
  });
});

describe("with sign-in and no public origin", () => {
  const development: GuardPolicy = { ...deployed, publicOrigin: undefined };
  test.for(["localhost", "127.0.0.1", "[::1]"])("%s is served", (host, { expect }) => {
    expect(check(development, { url: `http://${host}:8787/mcp`, status: undefined })).toBe(
      undefined,
    );
  });

  test("other hosts are not, and the error names the setting for the operator", async ({
    expect,
  }) => {
    const refusal = check(development, { url: "https://edgeway.workers.dev/mcp", status: 503 });
    expect([refusal?.status, await refusal?.text()]).toEqual([
      503,
      expect.stringContaining("PUBLIC_ORIGIN is not set"),
    ]);
  });
});

describe("behind the launcher", () => {
  const launched: GuardPolicy = { ...local, launcherKey: "KEY" };
  test.for([
    ["KEY", undefined],
    ["KEYS", 403],
    ["key", 403],
    ["", 403],
    [undefined, 403],
  ] as const)("a request that carries %j as its key: %s", ([key, status], { expect }) => {
    const headers = key === undefined ? {} : { "Edgeway-Launcher": key };
    const request = new Request("http://localhost:8787/health", { headers });
    expect(guard(request, launched)?.status).toBe(status);
  });
});

test("a refused host gets plain text that quotes nothing and is not cached", async ({ expect }) => {
  const refusals = [
    check(local, { url: "http://SECRET.example/", status: 503 }),
    check(deployed, { url: "http://SECRET.example/", status: 421 }),
    check({ ...deployed, publicOrigin: undefined }, { url: "http://SECRET.example/", status: 503 }),
  ];
  for (const refusal of refusals) {
    expect(refusal?.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(refusal?.headers.get("cache-control")).toBe("no-store");
    expect(await refusal?.text()).toMatch(/^(?!.*secret)[A-Z].+\.\n$/i);
  }
});

test("a refused origin gets a JSON-RPC error without an id", async ({ expect }) => {
  const url = "http://localhost/mcp";
  const refusal = check(local, { url, origin: "http://SECRET.example", status: 403 });
  expect(refusal?.headers.get("content-type")).toBe("application/json");
  expect(refusal?.headers.get("cache-control")).toBe("no-store");
  expect(await refusal?.json()).toEqual({
    jsonrpc: "2.0",
    error: { code: -32000, message: expect.stringMatching(/^This origin is not allowed here/) },
  });
});

/** The names in Access-Control-Allow-Headers, for those in -Request-Headers. */
function allowed(requested?: string): string[] {
  const headers: Record<string, string> =
    requested === undefined ? {} : { "Access-Control-Request-Headers": requested };
  const response = preflight(new Request("http://localhost/mcp", { method: "OPTIONS", headers }));
  return response.headers.get("access-control-allow-headers")?.split(", ") ?? [];
}

describe("preflight()", () => {
  test("answers 204 with the methods", ({ expect }) => {
    const response = preflight(new Request("http://localhost/mcp", { method: "OPTIONS" }));
    expect(response.status).toBe(204);
    expect(response.headers.get("allow")).toBe("GET, POST, DELETE, OPTIONS");
    expect(response.headers.get("access-control-allow-methods")).toBe("GET, POST, DELETE, OPTIONS");
    expect(Number(response.headers.get("access-control-max-age"))).toBeGreaterThan(0);
  });

  test("names every header that a client may need, when none is asked for", ({ expect }) => {
    const names = "authorization content-type accept mcp-session-id mcp-protocol-version";
    expect(allowed()).toEqual(
      expect.arrayContaining([...names.split(" "), "last-event-id", "mcp-method", "mcp-name"]),
    );
    expect(allowed()).not.toContain("*");
  });

  test.for([
    { requested: "authorization,content-type", echoed: ["authorization", "content-type"] },
    { requested: "Mcp-Session-Id , LAST-EVENT-ID", echoed: ["mcp-session-id", "last-event-id"] },
    { requested: "mcp-param-region,mcp-param-a-1", echoed: ["mcp-param-region", "mcp-param-a-1"] },
    // Any token may follow the prefix (RFC 9110, 5.6.2).
    {
      requested: "mcp-param-user_id,mcp-param-a.b",
      echoed: ["mcp-param-user_id", "mcp-param-a.b"],
    },
    { requested: "mcp-method,x-evil,cookie", echoed: ["mcp-method"] },
    { requested: "mcp-name,mcp-param-,mcp-param-a b,*", echoed: ["mcp-name"] },
  ])("echoes of $requested only what is allowed", ({ requested, echoed }, { expect }) => {
    expect(allowed(requested)).toEqual(echoed);
  });
});

/** The headers that an answer gets, which has one already. */
function corsHeaders(policy: GuardPolicy, url: string, origin?: string): Record<string, string> {
  const response = new Response(null, { headers: { Vary: "Accept" } });
  const sent = origin === undefined ? {} : { Origin: origin };
  addCors(new Request(url, { headers: sent }), response, policy);
  return Object.fromEntries(response.headers);
}

describe("addCors()", () => {
  const exposed =
    "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After, traceresponse";

  test("lets the page that asked read the answer, and sets Vary for caches", ({ expect }) => {
    expect(corsHeaders(local, "http://localhost/", "http://localhost:1")).toEqual({
      "access-control-allow-origin": "http://localhost:1",
      "access-control-expose-headers": exposed,
      vary: "Accept, Origin",
    });
  });

  test("adds no header for clients that are no page", ({ expect }) => {
    expect(corsHeaders(local, "http://localhost/")).toEqual({ vary: "Accept" });
  });

  test("opens the routes that a client needs before it has a token to every page", ({ expect }) => {
    for (const path of ["/token", "/register", "/.well-known/oauth-protected-resource/mcp"]) {
      expect(
        corsHeaders(deployed, `https://mcp.example.com${path}`, "https://any.example"),
      ).toEqual({
        "access-control-allow-origin": "*",
        "access-control-expose-headers": exposed,
        vary: "Accept, Origin",
      });
    }
  });

  test("lets no other origin read the pages for people", ({ expect }) => {
    for (const path of ["/", "/authorize", "/login", "/account/keys", "/callback/x"]) {
      const url = `https://mcp.example.com${path}`;
      expect(corsHeaders(deployed, url, "https://app.example.com")).toEqual({ vary: "Accept" });
    }
  });
});
