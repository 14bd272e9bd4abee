/**
 * The official conformance suite for authorization servers, signed in to by a real browser: every
 * check passes, and none has a warning.
 */

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";

import { launchBrowser } from "../support/browser.ts";
import { overHttp } from "../support/oauth-over-http.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { register } from "../support/oauth-requests.ts";
import { freePort } from "../support/free-port.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { runAuthorizationSuite } from "./suite.ts";

let gateway: Server;
let browser: Browser;
beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ auth: "oauth" }), launchBrowser()]);
});
afterAll(async () => {
  await Promise.all([gateway.stop(), browser.close()]);
});

/** As a person does who has not been here before. */
async function signIn(url: string): Promise<void> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByLabel("Owner code", { exact: true }).fill(OWNER_CODE);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("You can close this page").waitFor();
  } finally {
    await context.close();
  }
}

test.for<[name: string, resource: string | undefined]>([
  ["that names no resource", undefined],
  ["for the endpoint", "/mcp"],
  ["for one server", "/mcp/demo"],
])("B110: every check passes, with a request %s", async ([, resource], { expect }) => {
  const port = await freePort();
  const client = await register(
    { origin: gateway.url, send: overHttp },
    {
      client_name: "Conformance",
      redirect_uris: [`http://127.0.0.1:${port}/callback`],
      token_endpoint_auth_method: "none",
    },
  );
  const args = ["--url", gateway.url, "--client-id", client.client_id, "-p", String(port)];
  const named = resource === undefined ? [] : ["--resource", gateway.url + resource];
  const { exitCode, checks, output } = await runAuthorizationSuite([...args, ...named], signIn);
  expect(checks.map(({ id, status, errorMessage }) => [id, status, errorMessage])).toEqual([
    ["authorization-code-grant", "SUCCESS", undefined],
    ["authorization-server-metadata", "SUCCESS", undefined],
    ["authorization-server-metadata-cimd", "SUCCESS", undefined],
  ]);
  expect(output).toContain("Total: 3 passed, 0 failed");
  expect(exitCode).toBe(0);
});
