/** The requirement of every request of an MCP endpoint: one token, for this endpoint. */

import { beforeAll, describe, test, vi } from "vitest";

import { readCosts } from "../../src/observability/costs.ts";
import { type Headers, initializeMessage, post, send } from "../integration/client.ts";
import { hitsAt } from "./canary.ts";
import { ORIGIN } from "./gateway.ts";
import { newOwner } from "./owners.ts";
import { as, Person } from "./people.ts";

const AT = `${ORIGIN}/.well-known/oauth-protected-resource`;

let person: Person;
/** For `/mcp`, `/mcp/alpha` and `/mcp/beta`. */
let everything: string;
let alpha: string;
let beta: string;
/** For everything, with the scope of one server. */
let narrow: string;
let narrowKey: string;
let everyKey: string;
let operators: string;
/** In milliseconds since 1970. */
let begun: number;

beforeAll(async () => {
  person = await Person.signIn();
  everything = (await person.connect({ path: "/mcp" })).tokens.access_token;
  alpha = (await person.connect({ path: "/mcp/alpha" })).tokens.access_token;
  beta = (await person.key({ path: "/mcp/beta" })).token;
  const part = { path: "/mcp", scopes: ["mcp:alpha"] };
  narrow = (await person.connect(part)).tokens.access_token;
  narrowKey = (await person.key(part)).token;
  everyKey = (await person.key({ path: "/mcp" })).token;
  operators = (await (await newOwner()).key({ path: "/admin" })).token;
  // The login doctor records refusals once a minute: now, and not while a test counts.
  await (await initialize("/mcp/alpha", as("garbage"))).text();
  begun = Date.now();
});

function initialize(path: string, headers: Headers = {}): Promise<Response> {
  return post(ORIGIN + path, initializeMessage(), headers);
}

/** The parameters of a challenge. */
function challengeIn(response: Response): Record<string, string> {
  const header = response.headers.get("www-authenticate") ?? "";
  if (!header.startsWith("Bearer ")) throw new Error(`Not a challenge: ${header}`);
  return Object.fromEntries(
    [...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, value]),
  );
}

describe("a request without a token:", () => {
  test.for([
    ["/mcp", "mcp"],
    ["/mcp/alpha", "mcp:alpha"],
    ["/sse", "mcp"],
    ["/sse/beta", "mcp:beta"],
  ] as const)(
    "B9: %s gets a challenge with the metadata, and no error",
    async ([path, scope], { expect }) => {
      const asked = { resource_metadata: AT + path, scope };
      for (const method of ["POST", "GET", "DELETE", "PUT"]) {
        const response = await send(ORIGIN + path, { method });
        expect([method, response.status, challengeIn(response)]).toEqual([method, 401, asked]);
        expect(response.headers.get("cache-control")).toBe("no-store");
        expect(await response.json()).toMatchObject({ error: "unauthorized" });
      }
      // Where messages of HTTP+SSE go is no endpoint of its own.
      if (!path.startsWith("/sse")) return;
      const response = await post(`${ORIGIN}${path}/message?sessionId=x`, {});
      expect([response.status, challengeIn(response)]).toEqual([401, asked]);
      await response.text();
    },
  );

  test.for([
    { name: "B9: nothing", headers: {} },
    { name: "B19: other credentials", headers: { Authorization: "Basic eDp5" } },
    { name: "B83: a session cookie", headers: { Cookie: "__Host-edgeway-session=x" } },
    { name: "a session id", headers: { "Mcp-Session-Id": "x" } },
    { name: "an empty header", headers: { Authorization: "" } },
    { name: "another scheme", headers: { Authorization: "Bearerx y" } },
  ])("$name gets 401, without an error", async ({ headers }, { expect }) => {
    const response = await initialize("/mcp/alpha", headers);
    expect([response.status, challengeIn(response)]).toEqual([
      401,
      { resource_metadata: `${AT}/mcp/alpha`, scope: "mcp:alpha" },
    ]);
    await response.text();
  });
});

/** As a provider or an upstream would sign one. */
function jwt(header: object): string {
  const claims = { iss: "https://idp.example", aud: `${ORIGIN}/mcp`, sub: person.id, exp: 2e9 };
  const parts = [header, claims].map((part) => btoa(JSON.stringify(part)).replaceAll("=", ""));
  return [...parts, "c2ln"].join(".");
}

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

function random(length: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return Array.from(bytes, (byte) => BASE32.charAt(byte % 32)).join("");
}

async function statusOf(token: string): Promise<number> {
  const response = await send(`${ORIGIN}/mcp/alpha`, { headers: as(token) });
  await response.text();
  return response.status;
}

describe("a request with an invalid token:", () => {
  const ROWS: readonly { name: string; of: () => string }[] = [
    { name: "B10: garbage", of: () => "Bearer garbage" },
    { name: "B10: garbage in lower case", of: () => "bearer garbage" },
    { name: "nothing", of: () => "Bearer" },
    { name: "B20: two headers", of: () => `Bearer ${alpha}, Bearer ${alpha}` },
    { name: "B20: two headers, one garbage", of: () => `Bearer garbage, Bearer ${alpha}` },
    { name: "B20: two headers, then garbage", of: () => `Bearer ${alpha}, Bearer garbage` },
    { name: "B80: an access token of a provider", of: () => `Bearer gho_${random(36)}` },
    { name: "B80: a token of an upstream", of: () => `Bearer ${random(43)}` },
    { name: "B80: a JWT without a signature", of: () => `Bearer ${jwt({ alg: "none" })}` },
    { name: "B80: a JWT", of: () => `Bearer ${jwt({ alg: "RS256", kid: "1" })}` },
    { name: "a token with more after it", of: () => `Bearer ${alpha}A` },
    {
      name: "a token with a space in it",
      of: () => `Bearer ${alpha.slice(0, 9)} ${alpha.slice(9)}`,
    },
    { name: "a token and a parameter", of: () => `Bearer ${alpha} x=y` },
    { name: "a quoted token", of: () => `Bearer "${alpha}"` },
    { name: "what is far too long", of: () => `Bearer ${"a:".repeat(4000)}` },
  ];
  test.for(ROWS)("$name gets 401, and no object is called", async ({ of }, { expect }) => {
    vi.useFakeTimers({ toFake: ["Date"], now: begun });
    const { objectRequests, outgoingRequests } = readCosts();
    const response = await initialize("/mcp/alpha", { Authorization: of() });
    expect([response.status, challengeIn(response)]).toEqual([
      401,
      {
        ...{ error: "invalid_token", error_description: expect.any(String) },
        ...{ resource_metadata: `${AT}/mcp/alpha`, scope: "mcp:alpha" },
      },
    ]);
    expect(await response.json()).toMatchObject({ error: "invalid_token" });
    expect(readCosts()).toMatchObject({ objectRequests, outgoingRequests });
    expect(await hitsAt("idp.example")).toEqual([]);
  });

  test("a token that lacks its last character, or has a different one, is refused", async ({
    expect,
  }) => {
    for (const token of [alpha, beta]) {
      const last = token.endsWith("A") ? "B" : "A";
      for (const other of [token.slice(0, -1), token.slice(0, -1) + last]) {
        const response = await initialize("/mcp/alpha", as(other));
        expect(response.status).toBe(401);
        await response.text();
      }
    }
  });

  test("a refresh token and a code are not access tokens", async ({ expect }) => {
    const { tokens } = await person.connect();
    const response = await initialize("/mcp/alpha", as(tokens.refresh_token));
    expect([response.status, challengeIn(response)["error"]]).toEqual([401, "invalid_token"]);
    await response.text();
  });

  test("B11: a token in the URL is refused, alone and beside a valid one, and reaches no log", async ({
    expect,
  }) => {
    const lines: unknown[] = [];
    for (const level of ["log", "info", "warn", "error", "debug"] as const) {
      vi.spyOn(console, level).mockImplementation((...args) => void lines.push(...args));
    }
    for (const headers of [{}, as(alpha)]) {
      const response = await initialize(`/mcp/alpha?access_token=${alpha}`, headers);
      expect([response.status, challengeIn(response)["error"]]).toEqual([401, "invalid_token"]);
      expect(await response.text()).not.toContain(alpha);
      expect(JSON.stringify([...response.headers])).not.toContain(alpha);
    }
    vi.restoreAllMocks();
    expect(JSON.stringify(lines)).not.toContain(alpha);
  });

  test(
    "B81: 10,000 invalid tokens, some of them in the right format, create no object",
    { timeout: 120_000 },
    async ({ expect }) => {
      const shapeless = [
        () => random(40),
        () => `${random(8)}.${random(20)}.${random(20)}`,
        () => `u_${random(26)}:${random(16)}:${random(31)}`,
      ];
      // Worth asking about.
      const shapely = [
        () => `u_${random(26)}:${random(16)}:${random(32)}`,
        () => `edgeway_sk_${random(16)}_${random(43)}`,
      ];
      vi.useFakeTimers({ toFake: ["Date"], now: begun });
      const before = readCosts();
      const statuses = new Set<number>();
      for (let round = 0; round < 200; round++) {
        const many = Array.from({ length: 16 }, () => shapeless).flat();
        const answers = await Promise.all([...many, ...shapely].map((make) => statusOf(make())));
        for (const status of answers) statuses.add(status);
      }
      expect([...statuses]).toEqual([401]);
      const after = readCosts();
      expect(after.objectRequests - before.objectRequests).toBe(400);
      expect(after.objectsConstructed - before.objectsConstructed).toBeLessThanOrEqual(32);
      vi.useRealTimers();
      const response = await initialize("/mcp/alpha", as(alpha));
      expect(response.status).toBe(200);
      await response.text();
    },
  );
});

describe("a token for an endpoint", () => {
  test("is accepted there, in any case of the scheme, and at its other transport", async ({
    expect,
  }) => {
    for (const Authorization of [`Bearer ${alpha}`, `bearer ${alpha}`, `BEARER   ${alpha}`]) {
      const response = await initialize("/mcp/alpha", { Authorization });
      expect(response.status).toBe(200);
      await response.text();
    }
    const headers = { ...as(alpha), Accept: "text/event-stream" };
    const stream = await send(`${ORIGIN}/sse/alpha`, { headers });
    expect([stream.status, stream.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    await stream.body?.cancel();
  });

  test.for(["/mcp/alpha", "/mcp/beta", "/sse/alpha", "/sse/beta"])(
    "B78: for all servers is accepted at %s, which is a part of it",
    async (path, { expect }) => {
      const headers = { ...as(everything), Accept: "text/event-stream" };
      const answers = path.startsWith("/mcp")
        ? [await initialize(path, as(everything)), await initialize(path, as(everyKey))]
        : [await send(ORIGIN + path, { headers })];
      for (const response of answers) {
        expect(response.status).toBe(200);
        await response.body?.cancel();
      }
    },
  );

  const ELSEWHERE: readonly { name: string; token: () => string; path: string }[] = [
    { name: "of everything, for one server, at it", token: () => narrow, path: "/mcp/alpha" },
    { name: "of everything, for one server, at another", token: () => narrow, path: "/mcp/beta" },
    {
      name: "a key of the same, at its other transport",
      token: () => narrowKey,
      path: "/sse/alpha",
    },
    { name: "of the operator's pages, at a server", token: () => operators, path: "/mcp/alpha" },
    { name: "of one server, at another", token: () => alpha, path: "/mcp/beta" },
    { name: "of one server, at everything", token: () => alpha, path: "/mcp" },
    { name: "a key of one server, at another", token: () => beta, path: "/mcp/alpha" },
    { name: "a key of one server, at everything", token: () => beta, path: "/sse" },
  ];
  test.for(ELSEWHERE)(
    "B78: $name: 401 with that endpoint's own metadata",
    async (row, { expect }) => {
      const response = await initialize(row.path, as(row.token()));
      expect([response.status, challengeIn(response)]).toMatchObject([
        401,
        { error: "invalid_token", resource_metadata: AT + row.path },
      ]);
      await response.text();
    },
  );

  test.for([
    "/mcp/../mcp/alpha",
    "/mcp/./alpha",
    "//mcp/alpha",
    "/mcp//alpha",
    "/mcp/%2e%2e/mcp/alpha",
    "/mcp%2falpha",
    "/mcp/%61lpha",
    "/%6dcp/alpha",
    "/mcp/alpha%2f",
    "/mcp/alpha/..%2falpha",
    "/mcp/alpha%00",
    "/mcp/alpha;x",
    "/mcp\\alpha",
    "/sse/../mcp/alpha",
    "/mcp/alpha/message",
    "/mcp/beta/../alpha",
    "/mcp/beta/..",
  ])("B79: of another server is refused at %s", async (path, { expect }) => {
    const response = await initialize(path, as(beta));
    expect([401, 404, 405]).toContain(response.status);
    await response.text();
  });

  test("reveals no unknown server to any user", async ({ expect }) => {
    const answers = [];
    for (const headers of [{}, as(everything), as("garbage")]) {
      const response = await initialize("/mcp/nobody", headers);
      answers.push([response.status, await response.text()]);
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]?.[0]).toBe(404);
  });

  test("B82: is refused at another host", async ({ expect }) => {
    for (const origin of ["https://other.example", "https://gw.example.com:8443"]) {
      const response = await post(`${origin}/mcp/alpha`, initializeMessage(), as(alpha));
      expect(response.status).toBe(421);
      await response.text();
    }
  });

  test("B113: is valid up to its last second", async ({ expect }) => {
    const { tokens } = await person.connect();
    const status = async (): Promise<number> => {
      const response = await initialize("/mcp/alpha", as(tokens.access_token));
      await response.text();
      return response.status;
    };
    const end = Date.now() + tokens.expires_in * 1000;
    vi.useFakeTimers({ toFake: ["Date"], now: end - 2000 });
    expect(await status()).toBe(200);
    vi.setSystemTime(end + 1000);
    expect(await status()).toBe(401);
  });
});

describe("a scope", () => {
  test("that is wider is enough", async ({ expect }) => {
    const { tokens } = await person.connect({ path: "/mcp/alpha", scopes: ["mcp"] });
    const response = await initialize("/mcp/alpha", as(tokens.access_token));
    expect(response.status).toBe(200);
    await response.text();
  });

  test.for([
    ["/mcp", ["mcp:alpha"], "mcp"],
    ["/mcp", ["mcp:alpha", "mcp:beta"], "mcp"],
    ["/mcp/alpha", ["mcp:beta"], "mcp:alpha"],
    ["/mcp/alpha", ["admin"], "mcp:alpha"],
    ["/mcp/alpha", [], "mcp:alpha"],
  ] as const)(
    "that is missing at %s, %j, leads to 403 with the required scope",
    async (row, { expect }) => {
      const [path, scopes, needed] = row;
      const { token } = await person.key({ path, scopes });
      const response = await initialize(path, as(token));
      expect([response.status, challengeIn(response)]).toEqual([
        403,
        {
          ...{ error: "insufficient_scope", error_description: expect.any(String) },
          ...{ resource_metadata: AT + path, scope: needed },
        },
      ]);
      expect(await response.json()).toMatchObject({ error: "insufficient_scope" });
    },
  );
});

test("a busy client costs one look-up per period", async ({ expect }) => {
  const { token } = await person.key();
  const ask = async (): Promise<void> => {
    const response = await initialize("/mcp/alpha", as(token));
    expect(response.status).toBe(200);
    await response.text();
  };
  await ask();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { objectRequests } = readCosts();
  for (let n = 0; n < 10; n++) await ask();
  expect(readCosts().objectRequests - objectRequests).toBeLessThanOrEqual(1);
});
