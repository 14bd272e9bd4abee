/**
 * What people do, in a real browser, at a gateway as `npm start` serves it: sign in with the
 * owner's code and with a real OpenID provider, approve and turn away, create keys and revoke.
 */

import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, test } from "vitest";

import { launchBrowser } from "../support/browser.ts";
import { overHttp } from "../support/oauth-over-http.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import {
  authorizeUrl,
  type Gateway,
  newPkce,
  register,
  requestToken,
  type Tokens,
  tokensIn,
} from "../support/oauth-requests.ts";
import { serveSite, type Site } from "../support/page-server.ts";
import { startOidcProvider, type TestOidcProvider } from "../support/oidc-provider.ts";
import { type Server, startGateway } from "../support/servers.ts";

/** Where the application waits for its code: a site on this machine. */
let listener: Site;
let arrived: (query: URLSearchParams) => void = () => undefined;

function startListener(): Promise<Site> {
  return serveSite(({ url = "" }) => {
    const { pathname, searchParams } = new URL(url, "http://127.0.0.1");
    if (pathname === "/cb") arrived(searchParams);
    return new Response("You can go back now.");
  });
}

/** @returns what the next redirect brings. */
function nextArrival(): Promise<URLSearchParams> {
  return new Promise((resolve) => {
    arrived = resolve;
  });
}

let oidc: TestOidcProvider;
let server: Server;
let gateway: Gateway;
let browser: Browser;

beforeAll(async () => {
  [oidc, browser, listener] = await Promise.all([
    startOidcProvider(),
    launchBrowser(),
    startListener(),
  ]);
  const { issuer, clientId, clientSecret } = oidc;
  const allow = { domains: ["example.com"] };
  const company = { provider: "oidc", name: "company", label: "Continue with Company" };
  const identity = [{ provider: "owner" }, { ...company, issuer, clientId, clientSecret, allow }];
  server = await startGateway({ auth: "oauth", vars: { IDENTITY: JSON.stringify(identity) } });
  gateway = { origin: server.url, send: overHttp };
  oidc.allowRedirect(`${server.url}/callback/company`);
});
afterAll(async () => {
  await browser?.close();
  await Promise.all([server?.stop(), oidc?.stop(), listener?.stop()]);
});

/** A person at a browser of their own. */
async function person(): Promise<{ context: BrowserContext; page: Page }> {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  return { context, page };
}

interface Asked {
  readonly clientId: string;
  readonly verifier: string;
  readonly answer: Promise<URLSearchParams>;
}

/** An application sends the person's browser to the gateway. */
async function ask(page: Page, name: string): Promise<Asked> {
  const redirectUri = `${listener.origin}/cb`;
  const metadata = { client_name: name, redirect_uris: [redirectUri] };
  const client = await register(gateway, { ...metadata, token_endpoint_auth_method: "none" });
  const { verifier, challenge } = await newPkce();
  const answer = nextArrival();
  const parameters = {
    ...{ client_id: client.client_id, redirect_uri: redirectUri, code_challenge: challenge },
    ...{ state: "a state", resource: `${gateway.origin}/mcp`, scope: "mcp" },
  };
  await page.goto(authorizeUrl(gateway, parameters));
  return { clientId: client.client_id, verifier, answer };
}

async function exchange(asked: Asked): Promise<Tokens> {
  const query = await asked.answer;
  const parameters = {
    ...{ grant_type: "authorization_code", code: query.get("code") ?? "" },
    ...{ redirect_uri: `${listener.origin}/cb`, code_verifier: asked.verifier },
  };
  return tokensIn(await requestToken(gateway, { ...parameters, client_id: asked.clientId }));
}

function refresh({ clientId }: Asked, { refresh_token }: Tokens): Promise<Response> {
  const parameters = { grant_type: "refresh_token", client_id: clientId, refresh_token };
  return requestToken(gateway, parameters);
}

async function toolsStatus(token: string): Promise<number> {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const response = await overHttp(`${gateway.origin}/mcp`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      Authorization: `Bearer ${token}`,
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": "tools/list",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: meta } }),
  });
  await response.body?.cancel();
  return response.status;
}

async function giveOwnerCode(page: Page): Promise<void> {
  await page.getByLabel("Owner code", { exact: true }).fill(OWNER_CODE);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

async function signInAtCompany(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "Continue with Company" }).click();
  await giveName(page, name);
}

/** At the provider. */
async function giveName(page: Page, name: string): Promise<void> {
  await page.getByLabel("User name").fill(name);
  await page.getByRole("button", { name: "Sign in" }).click();
}

describe("the owner", () => {
  test("approves an application, signs in, and the application gets a token", async ({
    expect,
  }) => {
    const { page, context } = await person();
    const asked = await ask(page, "Notebook");
    await page.getByText("this computer").waitFor();
    expect(await page.getByRole("heading", { level: 1 }).innerText()).toContain("Notebook");
    await page.getByRole("button", { name: "Approve" }).click();
    await giveOwnerCode(page);
    const query = await asked.answer;
    expect([query.get("state"), query.get("iss")]).toEqual(["a state", gateway.origin]);
    const tokens = await exchange(asked);
    expect(await toolsStatus(tokens.access_token)).toBe(200);
    await context.close();
  });

  test("denies an application without signing in", async ({ expect }) => {
    const { page, context } = await person();
    const asked = await ask(page, "Notebook");
    await page.getByRole("button", { name: "Deny" }).click();
    const query = await asked.answer;
    expect([query.get("error"), query.get("code")]).toEqual(["access_denied", null]);
    await context.close();
  });

  test("sees that a code is wrong, and may try again", async ({ expect }) => {
    const { page, context } = await person();
    await page.goto(`${gateway.origin}/account`);
    await page.getByLabel("Owner code", { exact: true }).fill("not the code at all");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    expect(await page.getByRole("alert").innerText()).not.toBe("");
    await giveOwnerCode(page);
    await page.getByRole("heading", { name: "Your account" }).waitFor();
    await context.close();
  });

  test("revokes an application, which is signed out at once", async ({ expect }) => {
    const { page, context } = await person();
    const asked = await ask(page, "Soon gone");
    await page.getByRole("button", { name: "Approve" }).click();
    await giveOwnerCode(page);
    const tokens = await exchange(asked);
    await page.goto(`${gateway.origin}/account`);
    const entry = page.getByRole("listitem").filter({ hasText: "Soon gone" }).first();
    await entry.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("heading", { name: "Your account" }).waitFor();
    expect((await refresh(asked, tokens)).status).toBe(400);
    await context.close();
  });

  test("creates a key that works, and revokes it", async ({ expect }) => {
    const { page, context } = await person();
    await page.goto(`${gateway.origin}/account`);
    await giveOwnerCode(page);
    await page.getByText("Create a key", { exact: true }).click();
    await page.getByLabel("Name").fill("Nightly job");
    await page.getByRole("button", { name: "Create the key" }).click();
    const key = await page.getByRole("group", { name: "API key" }).innerText();
    expect(await toolsStatus(key)).toBe(200);

    await page.goto(`${gateway.origin}/account`);
    const entry = page.getByRole("listitem").filter({ hasText: "Nightly job" }).first();
    await entry.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("You have no API keys").waitFor();
    await context.close();
  });
});

describe("an employee", () => {
  test("approves, signs in at their provider, and comes back with a code", async ({ expect }) => {
    const { page, context } = await person();
    const asked = await ask(page, "Planner");
    await page.getByRole("button", { name: "Approve" }).click();
    await signInAtCompany(page, "alice");
    const tokens = await exchange(asked);
    expect(await toolsStatus(tokens.access_token)).toBe(200);

    await page.goto(`${gateway.origin}/account`);
    await page.getByText("Alice Example").first().waitFor();
    // What belongs to the operator is not theirs.
    expect((await page.goto(`${gateway.origin}/admin`))?.status()).toBe(403);
    await context.close();
  });

  test("is asked only for consent the next time", async ({ expect }) => {
    const { page, context } = await person();
    const first = await ask(page, "Planner");
    await page.getByRole("button", { name: "Approve" }).click();
    await signInAtCompany(page, "alice");
    await exchange(first);
    const second = await ask(page, "Another");
    await page.getByRole("button", { name: "Approve" }).click();
    expect((await second.answer).get("code")).not.toBeNull();
    await context.close();
  });

  test("who is not admitted sees a page about it, and gets no code", async ({ expect }) => {
    const { page, context } = await person();
    await ask(page, "Planner");
    await page.getByRole("button", { name: "Approve" }).click();
    await signInAtCompany(page, "bob");
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(page.url()).toMatch(`${gateway.origin}/callback/company`);
    expect((await page.goto(`${gateway.origin}/account`))?.url()).toContain("/login");
    await context.close();
  });

  test("is signed out everywhere when the provider ends the session", async ({ expect }) => {
    const { page, context } = await person();
    const asked = await ask(page, "Planner");
    await page.getByRole("button", { name: "Approve" }).click();
    await signInAtCompany(page, "alice");
    const tokens = await exchange(asked);
    oidc.endSession("alice");
    const refused = await refresh(asked, tokens);
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: "invalid_grant" }]);
    await context.close();
  });
});

// A browser blocks each redirect after a form that the policy of its page does not name, and says nothing.
test("a form that takes a new sign-in leads to the provider, also where there is only one", async ({
  expect,
  onTestFinished,
}) => {
  const { issuer, clientId, clientSecret } = oidc;
  const company = { provider: "oidc", name: "company", label: "Continue with Company" };
  const allow = { domains: ["example.com"] };
  const identity = [{ ...company, issuer, clientId, clientSecret, allow }];
  const own = await startGateway({ auth: "oauth", vars: { IDENTITY: JSON.stringify(identity) } });
  onTestFinished(() => own.stop());
  oidc.allowRedirect(`${own.url}/callback/company`);
  const { page, context } = await person();
  await page.goto(`${own.url}/account`);
  await giveName(page, "alice");
  await page.waitForURL(`${own.url}/account`);
  await page.getByText("Create a key", { exact: true }).click();
  await page.getByLabel("Name").fill("Nightly job");
  await context.clearCookies();
  await page.getByRole("button", { name: "Create the key" }).click();
  await signInAtCompany(page, "alice");
  await page.getByText("Nothing was done yet").waitFor();
  expect(page.url()).toBe(`${own.url}/account?done=signed-in-again`);
  await context.close();
});

test("the connect page has the address of this very gateway, and copies it", async ({ expect }) => {
  const { page, context } = await person();
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: gateway.origin });
  await page.goto(gateway.origin);
  await page.getByText(`${gateway.origin}/mcp`, { exact: true }).first().waitFor();
  await page.getByRole("button", { name: "Copy" }).first().click();
  expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(
    `${gateway.origin}/mcp`,
  );
  await context.close();
});
