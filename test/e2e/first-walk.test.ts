/**
 * The first walk of somebody new (docs/console.md), in a real browser: their own server behind the gateway, its tool
 * tried, the call seen, a client connected. No file is edited, and nothing is deployed.
 */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, test } from "vitest";

import { launchBrowser } from "../support/browser.ts";
import { type Server, startEverything, startGateway } from "../support/servers.ts";

/** How long a condition may take to come true: only what fails waits to the end. */
const SOON = { timeout: 20_000, interval: 100 };

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
  page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await own?.stop();
});

/** @returns the command that `/` shows for Claude Code. */
async function shownCommand(): Promise<string> {
  await page.goto(`${gateway.url}/?client=claude-code`);
  const shown = await page.locator("code, pre").allInnerTexts();
  return shown.find((text) => text.startsWith("claude mcp add")) ?? "";
}

describe("the first walk", () => {
  test("P3: puts a server of this machine behind the gateway, by its address alone", async ({
    expect,
  }) => {
    await page.goto(`${gateway.url}/admin`);
    await page.getByRole("link", { name: "Add and change servers" }).click();
    await page.getByLabel("Address or JSON").fill(own.url);
    await page.getByRole("button", { name: "Read it" }).click();
    await page.getByLabel("Slug").fill("mine");
    await page.getByRole("button", { name: "Keep as a draft" }).click();
    await page.getByRole("heading", { name: "What was found" }).waitFor();
    expect(await page.locator("main").innerText()).toMatch(/Reached[\s\S]*Tools[\s\S]*echo/);
    await page.getByRole("button", { name: /^Serve it/ }).click();
    await page.getByRole("button", { name: /^Pause/ }).waitFor();
  });

  test("tries a tool of it", async ({ expect }) => {
    await page.goto(`${gateway.url}/catalog/mine/echo`);
    await page.getByLabel(/^message/).fill("the first walk");
    await page.getByRole("button", { name: /^(?:Run|Continue)$/ }).click();
    const second = page.getByRole("button", { name: /^Run .+ at / });
    const result = page.getByRole("heading", { name: "What it gave" });
    await second.or(result).first().waitFor();
    if (await second.isVisible()) await second.click();
    await result.waitFor();
    expect(await page.locator("main").innerText()).toContain("Echo: the first walk");
  });

  test("sees that call", async ({ expect }) => {
    const row = page.getByRole("row", { name: /echo/ });
    await expect
      .poll(async () => {
        await page.goto(`${gateway.url}/activity`);
        return row.count();
      }, SOON)
      .toBe(1);
    expect(await row.innerText()).toMatch(/at mine[\s\S]*console[\s\S]*Answered/);
  });

  test("connects a client by the command that the first page shows", async ({ expect }) => {
    const [url = ""] = /https?:\/\/\S+/.exec(await shownCommand()) ?? [];
    expect(url).toBe(`${gateway.url}/mcp`);
    const client = new Client({ name: "first-walk", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("mine__echo");
    const result = await client.callTool({
      name: "mine__echo",
      arguments: { message: "from a client" },
    });
    expect(result.content).toEqual([{ type: "text", text: "Echo: from a client" }]);
    await client.close();
  });
});
