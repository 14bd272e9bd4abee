/**
 * Every page in a real browser, on a phone and on a desk, in light and dark: nothing in the way of
 * somebody who cannot see it well, or does not see it at all; nothing to scroll sideways; and
 * nothing fetched, blocked or complained of.
 */

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, test } from "vitest";

import { page } from "../../src/pages/respond.ts";
import { launchBrowser } from "../support/browser.ts";
import { faultsOf } from "../support/page-faults.ts";
import { SAMPLES } from "../support/page-samples.ts";
import { serveSite, type Site } from "../support/page-server.ts";

let browser: Browser;
let site: Site;
let checked: Page;
/** In a browser as people have it. */
let shown: Page;
/** By the page that is shown, since this was last looked at. */
const requested: string[] = [];
const said: string[] = [];

beforeAll(async () => {
  site = await serveSite(({ url = "" }) => {
    const view = SAMPLES[url.slice(1)];
    return view === undefined
      ? new Response("", { status: 404 })
      : page(view, { origin: "http://localhost" });
  });
  browser = await launchBrowser();
  shown = await browser.newPage();
  shown.on("request", (request) => requested.push(request.url()));
  shown.on("console", (message) => said.push(message.text()));
  shown.on("pageerror", (error) => said.push(error.message));
  // The checker is a script that the pages themselves would not let in.
  checked = await (await browser.newContext({ bypassCSP: true })).newPage();
});
afterAll(async () => {
  await browser?.close();
  await site?.stop();
});

describe("a page", () => {
  test.for(Object.keys(SAMPLES))(
    "P18: %s is accessible, in light and in dark, and nowhere wider than the narrowest phone",
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
      await shown.goto(`${site.origin}/${name}`);
      const urls = requested.splice(0).filter((url) => !url.startsWith("data:"));
      expect(urls).toEqual([`${site.origin}/${name}`]);
      expect(said.splice(0)).toEqual([]);
    },
  );

  test("is styled: the policy lets the stylesheet in", async ({ expect }) => {
    await shown.goto(`${site.origin}/consent`);
    const ground = await shown.evaluate<string>("getComputedStyle(document.body).backgroundColor");
    expect(ground).toBe("rgb(245, 247, 246)");
  });
});
