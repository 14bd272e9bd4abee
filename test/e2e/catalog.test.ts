/**
 * The catalog in a real browser that runs no script, over the demo server: a person
 * looks for a tool, runs it, sees it work, answers what it asks, and is asked before anything is changed.
 */

import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, test } from "vitest";

import { launchBrowser } from "../support/browser.ts";
import { type Server, startGateway } from "../support/servers.ts";

let gateway: Server;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ auth: "none" }), launchBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});
beforeEach(async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  page = await context.newPage();
});
afterEach(() => page.context().close());

async function choose(label: RegExp, option: string): Promise<void> {
  await page.getByLabel(label).selectOption({ label: option });
}

describe("a person without a script", () => {
  test("P3: finds a tool, runs it, changes what it was given, and runs it again", async ({
    expect,
  }) => {
    await page.goto(`${gateway.url}/`);
    await page.getByRole("link", { name: "Catalog" }).click();
    await page.getByRole("searchbox").fill("how long steep");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("link", { name: "Steeping guide" }).click();
    await choose(/^tea/, "sencha");
    await page.getByLabel(/^cups/).fill("none");
    await page.getByRole("button", { name: "Run" }).click();
    expect(await page.locator(".error").allInnerTexts()).toContain("This is not a number.");
    await page.getByLabel(/^cups/).fill("2");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("heading", { name: "What it gave" }).waitFor();
    expect(await page.locator("pre").allInnerTexts()).toContainEqual(
      expect.stringContaining('"cups": 2'),
    );
    expect(await page.getByText("Running").isVisible()).toBe(false);
    await page.getByRole("button", { name: "Change and run again" }).click();
    expect(await page.getByLabel(/^cups/).inputValue()).toBe("2");
    expect(await page.getByLabel(/^tea/).inputValue()).toBe('"sencha"');
  });

  test("is asked before a tool runs that may change something, and sees it work", async ({
    expect,
  }) => {
    await page.goto(`${gateway.url}/catalog/demo/brew_tea`);
    await choose(/^tea/, "assam");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("Nothing has been sent yet.").waitFor();
    const clicked = page.getByRole("button", { name: /^Run Brew a pot of tea at/ }).click();
    // Once there is a result, no progress is seen any more.
    await page.locator(".progress:visible", { hasText: "of 5 ·" }).waitFor();
    await page.getByText("Your Assam is ready").waitFor();
    await clicked;
    expect(await page.locator(".progress:visible").count()).toBe(0);
  });

  test("answers what a tool asks", async ({ expect }) => {
    await page.goto(`${gateway.url}/catalog/demo/order_tea`);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: /^Run Order tea at/ }).click();
    await page.getByText("What may we bring you?").waitFor();
    await choose(/^Tea/, "chamomile");
    await choose(/^With honey/, "Yes");
    await page.getByLabel(/^Name for the order/).fill("Ann <b>");
    await page.getByRole("button", { name: "Answer" }).click();
    const text = "Noted for Ann <b>: one cup of Chamomile with honey.";
    await page.getByText(text).waitFor();
    expect(await page.getByText(text).count()).toBe(1);
  });
});
