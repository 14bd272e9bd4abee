/** Servers are added, changed and exported in a real browser without JavaScript, on the narrowest phone. */

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";

import { launchBrowser } from "../support/browser.ts";
import { type Server, startEverything, startGateway } from "../support/servers.ts";

const SECRET = "tea-with-milk-and-no-sugar";

let gateway: Server;
let own: Server;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  [gateway, own, browser] = await Promise.all([
    startGateway({ auth: "none" }),
    startEverything("streamableHttp"),
    launchBrowser(),
  ]);
  const viewport = { width: 320, height: 640 };
  page = await (await browser.newContext({ javaScriptEnabled: false, viewport })).newPage();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await own?.stop();
});

test("an added server is changed, and exported, without a script", async ({ expect }) => {
  await page.goto(`${gateway.url}/admin/servers`);
  await page.getByLabel("Address or JSON").fill(own.url);
  await page.getByRole("button", { name: "Read it" }).click();
  await page.getByLabel("Slug").fill("mine");
  await page.getByRole("button", { name: "Keep as a draft" }).click();
  await page.getByRole("button", { name: /^Serve it/ }).click();

  await page.getByRole("link", { name: /^Change/ }).click();
  await page.getByLabel("Label").fill("My own");
  await page.getByLabel("Another header: its name").fill("X-Tea");
  await page.getByLabel("Its value", { exact: true }).fill(SECRET);
  await page.getByRole("button", { name: "See what changes" }).click();
  const review = await page.locator("main").innerText();
  expect(review).toMatch(/Label[\s\S]*My own[\s\S]*Header X-Tea[\s\S]*\$\{X_TEA\}[\s\S]*Reached/);
  expect(review).not.toContain(SECRET);
  await page.getByRole("button", { name: "Keep the change" }).click();
  await page.getByRole("heading", { name: "My own" }).waitFor();
  expect(await page.locator("main").innerText()).toContain("The change is kept");

  await page.getByRole("link", { name: "Servers", exact: true }).click();
  await page.getByRole("link", { name: "Export as TOML" }).click();
  const exported = await page.locator("pre").allInnerTexts();
  expect(exported).toEqual([
    expect.stringContaining('headers = { X-Tea = "${SERVER_MINE_X_TEA}" }'),
    "npx wrangler secret put SERVER_MINE_X_TEA",
  ]);
});

test("a server of several that is not ticked needs none of its values", async ({ expect }) => {
  const { url } = own;
  const pasted = JSON.stringify({
    wanted: { url, headers: { "X-Key": "${WANTED_KEY}" } },
    other: { url, headers: { "X-Key": "${OTHER_KEY}" } },
  });
  await page.goto(`${gateway.url}/admin/servers`);
  await page.getByLabel("Address or JSON").fill(pasted);
  await page.getByRole("button", { name: "Read it" }).click();
  await page.getByRole("checkbox", { name: /^other/ }).uncheck();
  await page.getByRole("button", { name: "Keep as drafts" }).click();
  // The gateway says which value is missing, and of the one that is ticked alone.
  await page.getByRole("alert").waitFor({ timeout: 10_000 });
  expect(await page.getByRole("alert").allInnerTexts()).toEqual(['"WANTED_KEY" needs a value.']);
  await page.getByLabel("WANTED_KEY").fill(SECRET);
  await page.getByRole("button", { name: "Keep as drafts" }).click();
  await page.getByText("The draft is kept").waitFor({ timeout: 20_000 });
  expect(new URL(page.url()).pathname).toBe("/admin/servers/wanted");
});
