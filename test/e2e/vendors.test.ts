/**
 * The scripted vendors that stand behind the gateway in other tests: applications on the official SDK sign in to
 * them, so that they are as good as a vendor is where no script says otherwise; and each fault is one.
 */

import { afterAll, beforeAll, describe, test } from "vitest";

import { newPkce, REDIRECT_URI } from "../support/oauth-requests.ts";
import { Keychain, type SdkKind } from "../support/oauth-sdk.ts";
import { SDK_V1 } from "../support/oauth-sdk-v1.ts";
import { SDK_V2 } from "../support/oauth-sdk-v2.ts";
import type { VendorScript } from "../support/vendor/script.ts";
import { ENTRA_LIKE, GITHUB_LIKE, GOOGLE_LIKE, REGISTERED } from "../support/vendor/shapes.ts";
import { parametersOf, Vendor } from "../support/vendor/vendor.ts";
import { startVendors, type Vendors } from "../support/vendor/vendors.ts";

let vendors: Vendors;
beforeAll(async () => {
  vendors = await startVendors();
});
afterAll(() => vendors.stop());

const OVER_HTTP = [...SDK_V1, ...SDK_V2].filter(({ path }) => path === "/mcp");

/** Signs in as a person whose browser approves at once. */
async function signIn(kind: SdkKind, vendor: Vendor): Promise<Keychain> {
  const keychain = new Keychain();
  const first = kind.open(new URL(vendor.url), keychain, fetch);
  await first.connect().catch((error: unknown) => {
    if (!(error instanceof kind.Unauthorized)) throw error;
  });
  const approved = await fetch(keychain.redirects[0] ?? "", { redirect: "manual" });
  await first.finish(new URL(approved.headers.get("location") ?? "").searchParams);
  return keychain;
}

async function whoami(kind: SdkKind, vendor: Vendor, keychain: Keychain): Promise<unknown> {
  const connection = kind.open(new URL(vendor.url), keychain, fetch);
  await connection.connect();
  try {
    const { content } = await connection.callTool("whoami");
    return content;
  } finally {
    await connection.close();
  }
}

const ran = (account: string): unknown => [{ type: "text", text: `ran whoami as ${account}` }];

describe.each(OVER_HTTP)("an application on the SDK ($name)", (kind) => {
  test("signs in, calls, and refreshes once when its token has ended", async ({ expect }) => {
    const vendor = await Vendor.take(vendors.origin);
    const keychain = await signIn(kind, vendor);
    expect(await whoami(kind, vendor, keychain)).toEqual(ran("alice"));
    expect(await vendor.count("refresh")).toBe(0);
    await vendor.expire();
    expect(await whoami(kind, vendor, keychain)).toEqual(ran("alice"));
    expect(await vendor.count("refresh")).toBe(1);
    expect(await vendor.count("register")).toBe(1);
  });

  test("finds metadata of an issuer with a path", async ({ expect }) => {
    const vendor = await Vendor.take(vendors.origin, {
      issuerPath: "/tenant",
      metadataAt: ["openid-appended"],
      signedIn: "bob",
    });
    expect(await whoami(kind, vendor, await signIn(kind, vendor))).toEqual(ran("bob"));
  });
});

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly error?: string;
}

/** What an application sends by hand, so that it can be wrong. */
class Application {
  readonly #vendor: Vendor;

  constructor(vendor: Vendor) {
    this.#vendor = vendor;
  }

  /** @returns where the browser is sent. */
  async authorize(more: Readonly<Record<string, string>> = {}): Promise<URL> {
    const query = new URLSearchParams({
      ...{ response_type: "code", client_id: REGISTERED.clientId, state: "state" },
      ...{ redirect_uri: REDIRECT_URI, code_challenge_method: "S256" },
      code_challenge: (await newPkce("v".repeat(43))).challenge,
      ...more,
    });
    const [, origin] = this.#vendor.origins;
    const response = await fetch(`${origin}/authorize?${query}`, { redirect: "manual" });
    return new URL(response.headers.get("location") ?? "");
  }

  async token(parameters: Readonly<Record<string, string>>, accept = "application/json") {
    const [, origin] = this.#vendor.origins;
    const basic = btoa(`${REGISTERED.clientId}:${REGISTERED.clientSecret ?? ""}`);
    return fetch(`${origin}/token`, {
      method: "POST",
      headers: { Authorization: `Basic ${basic}`, Accept: accept },
      body: new URLSearchParams(parameters),
    });
  }

  async exchange(more: Readonly<Record<string, string>> = {}): Promise<Tokens> {
    const code = (await this.authorize(more)).searchParams.get("code") ?? "";
    const proof = { redirect_uri: REDIRECT_URI, code_verifier: "v".repeat(43) };
    const response = await this.token({ grant_type: "authorization_code", code, ...proof });
    return response.json() as Promise<Tokens>;
  }

  async refresh(refresh_token: string): Promise<Tokens> {
    const response = await this.token({ grant_type: "refresh_token", refresh_token });
    return response.json() as Promise<Tokens>;
  }
}

async function take(script: VendorScript = {}): Promise<[Vendor, Application]> {
  const vendor = await Vendor.take(vendors.origin, { clients: [REGISTERED], ...script });
  return [vendor, new Application(vendor)];
}

test("a refresh token that comes again takes its family with it", async ({ expect }) => {
  const [vendor, application] = await take();
  const first = await application.exchange();
  const second = await application.refresh(first.refresh_token);
  expect(await application.refresh(first.refresh_token)).toMatchObject({ error: "invalid_grant" });
  expect(await application.refresh(second.refresh_token)).toMatchObject({ error: "invalid_grant" });
  expect((await vendor.state()).families).toEqual([{ id: 0, user: "alice", revoked: "reuse" }]);
});

test("a code works once, and for whoever has its verifier", async ({ expect }) => {
  const [, application] = await take();
  const code = (await application.authorize()).searchParams.get("code") ?? "";
  const request = { grant_type: "authorization_code", code, redirect_uri: REDIRECT_URI };
  const wrong = await application.token({ ...request, code_verifier: "w".repeat(43) });
  expect(await wrong.json()).toMatchObject({ error: "invalid_grant" });
  const right = { ...request, code_verifier: "v".repeat(43) };
  expect((await application.token(right)).status).toBe(200);
  expect((await application.token(right)).status).toBe(400);
});

test("a refresh takes effect though nobody hears of it", async ({ expect }) => {
  const [vendor, application] = await take();
  const { refresh_token } = await application.exchange();
  await vendor.change({ reactions: { refresh: [{ takesEffect: true, end: "reset" }] } });
  await expect(application.refresh(refresh_token)).rejects.toThrow("fetch failed");
  const { tokens } = await vendor.state();
  expect(tokens.filter(({ kind }) => kind === "refresh").map(({ state }) => state)).toEqual([
    "replaced",
    "live",
  ]);
});

test("an answer is held until its gate opens, and changed as a patch says", async ({ expect }) => {
  const [vendor, application] = await take();
  await vendor.change({
    reactions: { exchange: [{ heldBy: "gate", patch: { expires_in: "60", token_type: null } }] },
  });
  const exchanging = application.exchange();
  const [hit] = await vendor.receives("exchange");
  expect(hit === undefined ? {} : parametersOf(hit)).toMatchObject({ redirect_uri: REDIRECT_URI });
  expect(hit?.status).toBe(0);
  await vendor.open("gate");
  const tokens = await exchanging;
  expect(tokens).toMatchObject({ expires_in: "60" });
  expect(tokens).not.toHaveProperty("token_type");
});

test("a redirect is changed as a patch says, and a list repeats a parameter", async ({
  expect,
}) => {
  const [vendor, application] = await take();
  await vendor.change({
    reactions: { authorize: [{ patch: { iss: "{{issuer}}/", code: ["a", "b"], state: null } }] },
  });
  const { searchParams } = await application.authorize();
  expect([...searchParams]).toEqual([
    ["code", "a"],
    ["code", "b"],
    ["iss", `${vendor.issuer}/`],
  ]);
});

test("a server wants the scopes that a tool demands, and says so", async ({ expect }) => {
  const [vendor, application] = await take({
    demands: { "tools/call write": ["r", "w"] },
    checksAudience: false,
  });
  const { access_token } = await application.exchange({ scope: "r" });
  const call = async (name: string): Promise<Response> =>
    fetch(vendor.url, {
      method: "POST",
      headers: { Authorization: `Bearer ${access_token}`, "Mcp-Session-Id": "none" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } }),
    });
  expect((await call("read")).status).toBe(404);
  const lacking = await call("write");
  expect(lacking.status).toBe(403);
  expect(lacking.headers.get("www-authenticate")).toContain('scope="r w"');
  const [origin] = vendor.origins;
  expect(lacking.headers.get("www-authenticate")).toContain(`resource_metadata="${origin}/`);
});

test("a token for one server is refused by another behind the same authorization server", async ({
  expect,
}) => {
  const [vendor, application] = await take();
  const other = await Vendor.take(vendors.origin, {}, vendor);
  const { access_token } = await application.exchange({ resource: vendor.resource });
  const status = async ({ url }: Vendor): Promise<number> => {
    const headers = { Authorization: `Bearer ${access_token}` };
    return (await fetch(url, { method: "POST", headers, body: "{}" })).status;
  };
  expect(await status(vendor)).not.toBe(401);
  expect(await status(other)).toBe(401);
});

describe("vendors with ways of their own", () => {
  test("like GitHub: no registration, no end, forms, and errors with status 200", async ({
    expect,
  }) => {
    const clients = [REGISTERED];
    const [vendor, application] = await take({ ...GITHUB_LIKE, clients });
    expect((await fetch(`${new URL(vendor.issuer).origin}/register`)).status).toBe(404);
    const tokens = await application.exchange();
    expect(Object.keys(tokens)).toEqual(["access_token", "token_type"]);
    const wrong = { grant_type: "authorization_code", code: "none" };
    const refused = await application.token(wrong);
    expect([refused.status, await refused.json()]).toMatchObject([200, { error: "invalid_grant" }]);
    const code = (await application.authorize()).searchParams.get("code") ?? "";
    const proof = { redirect_uri: REDIRECT_URI, code_verifier: "v".repeat(43) };
    const form = await application.token({ ...wrong, code, ...proof }, "*/*");
    expect(form.headers.get("content-type")).toContain("x-www-form-urlencoded");
    expect(new URLSearchParams(await form.text()).get("token_type")).toBe("Bearer");
  });

  test("like Entra: no resource beside a scope, and a scope on refresh", async ({ expect }) => {
    const [vendor, application] = await take(ENTRA_LIKE);
    const refused = await application.authorize({ scope: "api://x/.default", resource: "r" });
    expect(refused.searchParams.get("error")).toBe("invalid_request");
    const { refresh_token } = await application.exchange({ scope: "api://x/.default" });
    expect(await application.refresh(refresh_token)).toMatchObject({ error: "invalid_request" });
    const metadata = await fetch(`${vendor.issuer}/.well-known/openid-configuration`);
    expect(await metadata.json()).not.toHaveProperty("code_challenge_methods_supported");
  });

  test("like Google: a refresh token for whoever asks, and never another", async ({ expect }) => {
    const [vendor, application] = await take(GOOGLE_LIKE);
    expect(await application.exchange()).not.toHaveProperty("refresh_token");
    const offline = { access_type: "offline" };
    expect(await application.exchange(offline)).not.toHaveProperty("refresh_token");
    const { refresh_token } = await application.exchange({ ...offline, prompt: "consent" });
    expect(await application.refresh(refresh_token)).not.toHaveProperty("refresh_token");
    expect(await application.refresh(refresh_token)).toHaveProperty("access_token");
    const metadata = await fetch(`${vendor.origins[0]}/.well-known/oauth-protected-resource/mcp`);
    expect(await metadata.json()).toMatchObject({ authorization_servers: [`${vendor.issuer}/`] });
  });
});
