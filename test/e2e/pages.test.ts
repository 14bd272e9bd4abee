/**
 * Every page in a real browser, on a phone and on a desk, in light and dark: nothing in the way of
 * somebody who cannot see it well, or does not see it at all; nothing to scroll sideways; and
 * nothing fetched, blocked or complained of.
 */

import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, test } from "vitest";

import { page } from "../../src/pages/respond.ts";
import { launchBrowser } from "../support/browser.ts";
import { faultsOf } from "../support/page-faults.ts";
import { SAMPLES } from "../support/page-samples.ts";
import { serveSite, type Site } from "../support/page-server.ts";

let browser: Browser;
let site: Site;
let checked: Page;
/** Of a browser as people have it. */
let context: BrowserContext;

beforeAll(async () => {
  site = await serveSite(({ url = "" }) => {
    const view = SAMPLES[url.slice(1)];
    return view === undefined
      ? new Response("", { status: 404 })
      : page(view, { origin: "http://localhost" });
  });
  browser = await launchBrowser();
  context = await browser.newContext();
  // The checker is a script that the pages themselves would not let in.
  checked = await (await browser.newContext({ bypassCSP: true })).newPage();
});
afterAll(async () => {
  await browser?.close();
  await site?.stop();
});

describe("a page", () => {
  test.for(Object.keys(SAMPLES))(
    "P18: %s is accessible, in light and in dark",
    async (name, { expect }) => {
      await checked.goto(`${site.origin}/${name}`);
      expect(await faultsOf(checked)).toEqual([]);
      expect(await checked.locator("h1").count()).toBe(1);
      expect(await checked.locator("html").getAttribute("lang")).toBe("en");
    },
  );

  test.for(Object.keys(SAMPLES))(
    "P4: %s loads nothing, and the browser reports no problem",
    async (name, { expect }) => {
      const shown = await context.newPage();
      const requested: string[] = [];
      const said: string[] = [];
      shown.on("request", (request) => requested.push(request.url()));
      shown.on("console", (message) => said.push(message.text()));
      shown.on("pageerror", (error) => said.push(error.message));
      await shown.goto(`${site.origin}/${name}`);
      expect(requested.filter((url) => !url.startsWith("data:"))).toEqual([
        `${site.origin}/${name}`,
      ]);
      expect(said).toEqual([]);
      await shown.close();
    },
  );

  test(
    "P18: is nowhere wider than the narrowest phone",
    { timeout: 120_000 },
    async ({ expect }) => {
      const shown = await context.newPage();
      await shown.setViewportSize({ width: 320, height: 640 });
      const wide: string[] = [];
      for (const name of Object.keys(SAMPLES)) {
        await shown.goto(`${site.origin}/${name}`);
        const width = await shown.evaluate<number>("document.documentElement.scrollWidth");
        if (width > 320) wide.push(name);
      }
      expect(wide).toEqual([]);
      await shown.close();
    },
  );

  test("is styled: the policy lets the stylesheet in", async ({ expect }) => {
    const shown = await context.newPage();
    await shown.goto(`${site.origin}/consent`);
    const ground = await shown.evaluate<string>("getComputedStyle(document.body).backgroundColor");
    expect(ground).toBe("rgb(245, 247, 246)");
    await shown.close();
  });
});
