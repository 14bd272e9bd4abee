/** Dynamic client registration (RFC 7591), with what real clients send, and with what attackers do. */

import { describe, test, vi } from "vitest";

import { obtainToken } from "../support/oauth-client.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { type Gateway, register } from "../support/oauth-requests.ts";
import { clientRow } from "./client-rows.ts";
import { passTime } from "./clock.ts";
import { assertOAuthError } from "./codes.ts";
import { fromElsewhere, gatewayWith, newContext } from "./context.ts";
import { gateway, ORIGIN } from "./gateway.ts";

const { send } = gateway;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** @param body sent as it is when it is a text. */
async function registering(
  body: unknown,
  { type = "application/json", via = send } = {},
): Promise<Answer> {
  const response = await via(`${ORIGIN}/register`, {
    method: "POST",
    headers: { ...fromElsewhere(), "Content-Type": type },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const { status, headers } = response;
  const answer: Answer = { status, headers, body: await response.json() };
  if (!response.ok) assertOAuthError(headers, answer.body);
  return answer;
}

const PUBLIC = {
  redirect_uris: ["http://127.0.0.1:9/cb"],
  client_name: "t",
  token_endpoint_auth_method: "none",
};

describe("a registration", () => {
  test("B21: of a public client is accepted", async ({ expect }) => {
    const { status, headers, body } = await registering(PUBLIC);
    expect(status).toBe(201);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("content-type")).toBe("application/json");
    expect(body).toEqual({
      ...PUBLIC,
      client_id: expect.stringMatching(/^[A-Za-z0-9_-]{16}$/),
      client_id_issued_at: expect.any(Number),
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      scope: "mcp",
    });
  });

  test("of a client with a secret is accepted, and the secret does not expire", async ({
    expect,
  }) => {
    const { body } = await registering({ redirect_uris: ["https://a.example/cb"] });
    expect(body).toMatchObject({
      client_secret: expect.stringMatching(/^[A-Za-z0-9_-]{32}$/),
      client_secret_expires_at: 0,
      token_endpoint_auth_method: "client_secret_basic",
    });
  });

  test.for([
    ...["client_name", "contacts", "client_uri", "scope", "grant_types", "response_types"],
    "token_endpoint_auth_method",
  ])("that has null for %s is accepted", async (member, { expect }) => {
    expect((await registering({ ...PUBLIC, [member]: null })).status).toBe(201);
  });

  test("stores no field that it does not use", async ({ expect }) => {
    const { body } = await registering({
      ...PUBLIC,
      ...{ software_statement: "x".repeat(2000), jwks_uri: "https://a.example/k", extra: { a: 1 } },
      ...{ logo_uri: "javascript:alert(1)", client_uri: "", tos_uri: null, policy_uri: "data:,x" },
      ...{ "client_name#fr": "x".repeat(2000), client_secret: "mine", client_id: "mine" },
    });
    expect(Object.keys(body).toSorted()).toEqual([
      ...["client_id", "client_id_issued_at", "client_name", "grant_types", "redirect_uris"],
      ...["response_types", "scope", "token_endpoint_auth_method"],
    ]);
    expect(body["client_id"]).not.toBe("mine");
  });

  test.for([
    [undefined, "mcp"],
    ["", "mcp"],
    ["openid profile email", "mcp"],
    ["mcp:alpha offline_access", "mcp:alpha"],
    // A registration does not reveal whether there is such an upstream.
    ["mcp:nobody mcp:nobody", "mcp:nobody"],
    ["admin", "admin"],
    [7, "mcp"],
    [`mcp:alpha ${"x".repeat(9000)}`, "mcp"],
  ])("answers scope no. %#", async ([scope, expected], { expect }) => {
    const { status, body } = await registering({ ...PUBLIC, scope });
    expect([status, body["scope"]]).toEqual([201, expected]);
  });
});

describe("the registration request of a real client is accepted:", () => {
  test.for([
    {
      client: "Cursor, with the scheme of its application beside two addresses",
      sent: {
        client_name: "Cursor",
        redirect_uris: [
          "cursor://anysphere.cursor-mcp/oauth/callback",
          "https://www.cursor.com/agents/mcp/oauth/callback",
          "http://localhost:8787/callback",
        ],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
      },
    },
    {
      client: "the Inspector",
      sent: {
        client_name: "MCP Inspector",
        client_uri: "https://github.com/modelcontextprotocol/inspector",
        redirect_uris: ["http://localhost:6274/oauth/callback"],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
        application_type: "native",
        scope: "",
      },
    },
    {
      client: "Visual Studio Code",
      sent: {
        client_name: "Visual Studio Code",
        client_uri: "https://code.visualstudio.com",
        grant_types: [
          "authorization_code",
          "refresh_token",
          "urn:ietf:params:oauth:grant-type:device_code",
        ],
        response_types: ["code"],
        redirect_uris: [
          "https://insiders.vscode.dev/redirect",
          "https://vscode.dev/redirect",
          "http://127.0.0.1/",
          "http://127.0.0.1:33418/",
        ],
        scope: "mcp",
        token_endpoint_auth_method: "none",
        application_type: "native",
      },
    },
    {
      client: "mcp-remote",
      sent: {
        redirect_uris: ["http://localhost:3334/oauth/callback"],
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        client_name: "MCP CLI Proxy",
        client_uri: "https://github.com/modelcontextprotocol/mcp-cli",
        software_id: "2e6dc280-f3c3-4e01-99a7-8181dbd1d23d",
        software_version: "0.1.30",
        scope: "openid email profile",
      },
    },
    {
      client: "Claude",
      sent: {
        client_name: "Claude",
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "client_secret_post",
        redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
        scope: "mcp",
      },
    },
    {
      client: "one that copies our list of grant types",
      sent: {
        client_name: "Copycat",
        grant_types: ["authorization_code", "refresh_token", "client_credentials"],
        redirect_uris: ["http://[::1]:7777/callback"],
        token_endpoint_auth_method: "none",
      },
    },
  ])("$client", async ({ sent }, { expect }) => {
    const { status, body } = await registering(sent);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      redirect_uris: sent.redirect_uris,
      client_name: sent.client_name,
      token_endpoint_auth_method: sent.token_endpoint_auth_method,
      grant_types: ["authorization_code", "refresh_token"],
    });
    expect("client_secret" in body).toBe(sent.token_endpoint_auth_method !== "none");
  });
});

describe("bad input is refused:", () => {
  test.for([
    [["javascript:alert(1)"]],
    [["data:text/html,x"]],
    [["http://a.example/cb"]],
    [["https://a.example/cb#x"]],
    [["https://a.example/cb#"]],
    [["https://u:p@a.example/cb"]],
    [[]],
    [["https://*.a.example/cb"]],
    [["https://a.example/cb\n"]],
    [[" https://a.example/cb"]],
    [["https://a.example\\@b.example/cb"]],
    [["http://0.0.0.0/cb"]],
    [["com.app:/cb"]],
    [["https://a.example/cb", "vbscript:x"]],
    [["https://a.example/cb", "https://b.example/\u202ecb"]],
    [["/cb"]],
    [[7]],
    // Converting it to a text throws.
    [[{ toString: 1 }]],
    ["https://a.example/cb"],
    [undefined],
    [null],
    [[`https://a.example/${"x".repeat(2040)}`]],
    [Array.from({ length: 11 }, (_, n) => `https://a.example/${n}`)],
  ])("B22, B24, B27: redirect_uris no. %#", async ([uris], { expect }) => {
    const { status, headers, body } = await registering({ ...PUBLIC, redirect_uris: uris });
    expect([status, body["error"]]).toEqual([400, "invalid_redirect_uri"]);
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("except ten redirect URIs of two kilobytes in all", async ({ expect }) => {
    const uris = Array.from({ length: 10 }, (_, n) => `https://a.example/${"x".repeat(200)}${n}`);
    expect((await registering({ ...PUBLIC, redirect_uris: uris })).status).toBe(201);
  });

  test.for(["{", "[]", "null", '"x"', "7", "", "[".repeat(8000)])(
    "B23: body no. %#",
    async (text, { expect }) => {
      const { status, body } = await registering(text);
      expect([status, body["error"]]).toEqual([400, "invalid_client_metadata"]);
    },
  );

  test.for(["application/x-www-form-urlencoded", "text/plain", "text/plain;application/json", ""])(
    "B23, B23a: the type %j",
    async (type, { expect }) => {
      const { status, body } = await registering(PUBLIC, { type });
      expect([status, body["error"]]).toEqual([400, "invalid_request"]);
    },
  );

  test("except JSON with a character set", async ({ expect }) => {
    const type = "Application/JSON; charset=utf-8";
    expect((await registering(PUBLIC, { type })).status).toBe(201);
  });

  test.for([
    { grant_types: ["implicit"] },
    { grant_types: ["client_credentials"], redirect_uris: PUBLIC.redirect_uris },
    { grant_types: [] },
    { grant_types: "authorization_code" },
    { grant_types: [7] },
    { response_types: ["token"] },
    { response_types: [] },
    { token_endpoint_auth_method: "private_key_jwt" },
    { token_endpoint_auth_method: "client_secret_jwt" },
    { token_endpoint_auth_method: 7 },
    { client_name: "x".repeat(300) },
    { client_name: { en: "x" } },
    { contacts: ["x".repeat(300)] },
    { contacts: "me" },
    { contacts: [null] },
  ])("B25, B27: metadata no. %#", async (wrong, { expect }) => {
    const { status, body } = await registering({ ...PUBLIC, ...wrong });
    expect([status, body["error"]]).toEqual([400, "invalid_client_metadata"]);
  });

  test.for(["GET", "HEAD", "PUT", "DELETE", "PATCH"])("B26: %s", async (method, { expect }) => {
    const response = await send(`${ORIGIN}/register`, { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
  });

  test("B27: 17 KB, declared or not", async ({ expect }) => {
    const body = JSON.stringify({ ...PUBLIC, software_statement: "x".repeat(17 * 1024) });
    expect((await registering(body)).status).toBe(413);
    const headers = { ...fromElsewhere(), "Content-Type": "application/json" };
    const stream = new Response(body).body;
    const streamed = await send(`${ORIGIN}/register`, { method: "POST", headers, body: stream });
    expect(streamed.status).toBe(413);
  });
});

describe("too many registrations are limited:", () => {
  test("B28: a registered client signs in, though its address may register no more clients", async ({
    expect,
  }) => {
    const address = fromElsewhere();
    const here: Gateway = {
      origin: ORIGIN,
      send: (url, sent) => send(url, { ...sent, headers: { ...sent?.headers, ...address } }),
    };
    const client = await register(here, PUBLIC);
    const more = Array.from({ length: 24 }, () => register(here, PUBLIC));
    const outcomes = (await Promise.allSettled(more)).map(({ status }) => status);
    expect(outcomes).toContain("rejected");
    const { tokens } = await obtainToken(here, { client, code: OWNER_CODE });
    expect(tokens.scope).toBe("mcp");
  });

  test("B28: 25 from one address in a minute, while another address is still served", async ({
    expect,
  }) => {
    passTime(0); // the clock stands
    const headers = { ...fromElsewhere(), "Content-Type": "application/json" };
    const once = (): Promise<Response> =>
      send(`${ORIGIN}/register`, { method: "POST", headers, body: JSON.stringify(PUBLIC) });
    const answers: Response[] = [];
    for (let n = 0; n < 25; n++) answers.push(await once());
    expect(answers.map(({ status }) => status)).toEqual([
      ...Array<number>(20).fill(201),
      ...Array<number>(5).fill(429),
    ]);
    const last = answers.at(-1);
    expect(Number(last?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await last?.json()).toMatchObject({ error: "temporarily_unavailable" });
    expect((await registering(PUBLIC)).status).toBe(201);
  });

  test("above the limit of a day, only expected applications register", async ({ expect }) => {
    const via = gatewayWith({ limits: { registrationsPerDay: 3 } }).send;
    const statusOf = async (...uris: readonly string[]): Promise<number> =>
      (await registering({ ...PUBLIC, redirect_uris: uris }, { via })).status;
    const strangers: number[] = [];
    // Others of this file have registered today, too.
    for (let n = 0; n < 5; n++) strangers.push(await statusOf(`https://${n}.a.example/cb`));
    expect(strangers.slice(-2)).toEqual([429, 429]);
    expect(await statusOf("http://localhost:1/cb")).toBe(201);
    expect(await statusOf("https://claude.ai/api/mcp/auth_callback")).toBe(201);
    expect(await statusOf("cursor://x/cb", "https://www.cursor.com/agents/cb")).toBe(201);
    expect(await statusOf("http://localhost:1/cb", "https://a.example/cb")).toBe(429);
    expect(await statusOf("https://claude.ai.evil.example/cb")).toBe(429);
  });

  test("above its limit of a day, an address takes nothing from the others", async ({ expect }) => {
    const limits = { registrationsPerAddressPerDay: 2, registrationsPerMinute: 100_000 };
    const { store } = newContext();
    const everybody = store.ephemeral("register").limits;
    const via = gatewayWith({ limits }).send;
    const headers = { ...fromElsewhere(), "Content-Type": "application/json" };
    const statusOf = async (uri: string): Promise<number> => {
      const body = JSON.stringify({ ...PUBLIC, redirect_uris: [uri] });
      return (await via(`${ORIGIN}/register`, { method: "POST", headers, body })).status;
    };
    const before = await everybody.countOfDay("register");
    const strangers: number[] = [];
    for (let n = 0; n < 5; n++) strangers.push(await statusOf(`https://${n}.a.example/cb`));
    expect(strangers).toEqual([201, 201, 429, 429, 429]);
    expect(await everybody.countOfDay("register")).toBe(before + 3);
    expect(await statusOf("http://localhost:1/cb")).toBe(201);
    const redirect_uris = ["https://5.a.example/cb"];
    expect((await registering({ ...PUBLIC, redirect_uris }, { via })).status).toBe(201);
  });

  test("the log reports once that the limit of the day is reached", async ({ expect }) => {
    const count = await newContext().store.ephemeral("register").limits.countOfDay("register");
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const via = gatewayWith({ limits: { registrationsPerDay: count + 1 } }).send;
    for (let n = 0; n < 4; n++) {
      await registering({ ...PUBLIC, redirect_uris: [`https://${n}.a.example/cb`] }, { via });
    }
    const lines = warn.mock.calls.map(([line]) => JSON.parse(String(line)) as unknown);
    warn.mockRestore();
    expect(lines).toEqual([
      { event: "limit_reached", limit: "registrationsPerDay", value: count + 1 },
    ]);
  });

  test("a client that never gets a token is deleted after a day", async ({ expect }) => {
    const before = Math.floor(Date.now() / 1000);
    const { body } = await registering(PUBLIC);
    const { expires } = await clientRow(String(body["client_id"]));
    expect(expires).toBeGreaterThanOrEqual(before + 24 * 3600);
    expect(expires).toBeLessThan(before + 24 * 3600 + 60);
  });
});
