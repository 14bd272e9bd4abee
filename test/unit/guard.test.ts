/** Hosts, origins, and what a browser is told (2025-11-25 and 2026-07-28: MUST 403 a bad Origin). */

import { describe, test } from "vitest";

import { addCors, guard, type GuardPolicy, preflight } from "../../src/downstream/guard.ts";

const local: GuardPolicy = {
  publicOrigin: undefined,
  allowedOrigins: new Set(),
  isLoopbackOnly: true,
};
const deployed: GuardPolicy = {
  publicOrigin: "https://mcp.example.com",
  allowedOrigins: new Set(["https://app.example.com"]),
  isLoopbackOnly: false,
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
    { url: "http://localhost/mcp", origin: "localhost", status: 403 },
    { url: "http://evil.example/mcp", origin: "http://evil.example", status: 403 },
    { url: "http://evil.example/mcp", origin: "http://localhost", status: 403 },
  ];
  test.for(rows)("$url from $origin: $status", (row, { expect }) => {
    expect(check(local, row)?.status).toBe(row.status);
  });
});

describe("with a public origin", () => {
  const rows: readonly Row[] = [
    { url: "https://mcp.example.com/mcp", status: undefined },
    { url: "https://mcp.example.com/mcp", origin: "https://mcp.example.com", status: undefined },
    { url: "https://mcp.example.com/mcp", origin: "https://app.example.com", status: undefined },
    { url: "https://mcp.example.com/mcp", origin: "http://app.example.com", status: 403 },
    { url: "https://mcp.example.com/mcp", origin: "https://app.example.com:8443", status: 403 },
    {
      url: "https://mcp.example.com/mcp",
      origin: "https://app.example.com.evil.example",
      status: 403,
    },
    { url: "https://mcp.example.com/mcp", origin: "http://localhost:3000", status: 403 },
    { url: "https://mcp.example.com/mcp", origin: "null", status: 403 },
    { url: "https://mcp.example.com:8443/mcp", status: 403 },
    { url: "https://other.example.com/mcp", status: 403 },
    { url: "https://edgeway.workers.dev/mcp", origin: "https://mcp.example.com", status: 403 },
  ];
  test.for(rows)("$url from $origin: $status", (row, { expect }) => {
    expect(check(deployed, row)?.status).toBe(row.status);
  });
});

test("a refusal is plain text that quotes nothing of the request and is not cached", async ({
  expect,
}) => {
  const refusals = [
    check(local, { url: "http://localhost/", origin: "http://SECRET.example", status: 403 }),
    check(local, { url: "http://SECRET.example/", status: 503 }),
    check(deployed, { url: "http://SECRET.example/", status: 403 }),
  ];
  for (const refusal of refusals) {
    expect(refusal?.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(refusal?.headers.get("cache-control")).toBe("no-store");
    expect(await refusal?.text()).toMatch(/^(?!.*secret)[A-Z].+\.\n$/i);
  }
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

describe("addCors()", () => {
  test("lets the page that asked read the answer, and tells caches so", ({ expect }) => {
    const headers = new Headers({ Vary: "Accept" });
    addCors(
      new Request("http://localhost/", { headers: { Origin: "http://localhost:1" } }),
      headers,
    );
    expect(Object.fromEntries(headers)).toEqual({
      "access-control-allow-origin": "http://localhost:1",
      "access-control-expose-headers": "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate",
      vary: "Accept, Origin",
    });
  });

  test("says nothing to what is no page", ({ expect }) => {
    const headers = new Headers();
    addCors(new Request("http://localhost/"), headers);
    expect([...headers]).toEqual([]);
  });
});
