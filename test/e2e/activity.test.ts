/**
 * What happened, in a real browser at a real gateway: a call is on the page while one looks, the page is
 * as good without a script, and it is in nobody's way.
 */

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, test } from "vitest";

import { launchBrowser } from "../support/browser.ts";
import { ModernCaller } from "../support/modern-caller.ts";
import { faultsOf } from "../support/page-faults.ts";
import { type Server, startGateway } from "../support/servers.ts";

/** How long a condition may take to come true: only what fails waits to the end. */
const SOON = { timeout: 20_000, interval: 100 };

let gateway: Server;
let browser: Browser;

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ auth: "none" }), launchBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

async function open(
  path: string,
  options: { readonly javaScriptEnabled?: boolean } = {},
): Promise<Page> {
  const page = await (await browser.newContext({ bypassCSP: false, ...options })).newPage();
  await page.goto(gateway.url + path);
  return page;
}

/** Runs a tool of the demo server, on its page. */
async function runTool(): Promise<void> {
  const page = await open("/catalog/demo/steeping_guide", { javaScriptEnabled: false });
  await page.getByLabel(/^tea/).selectOption({ label: "sencha" });
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByRole("heading", { name: "What it gave" }).waitFor();
  await page.context().close();
}

/** Calls the same tool as an application does, so many times. */
async function callTool(times: number): Promise<void> {
  const caller = new ModernCaller(`${gateway.url}/mcp/demo`, "steeping_guide", { tea: "sencha" });
  for (let n = 0; n < times; n += AT_ONCE) {
    const turns = Array.from({ length: Math.min(AT_ONCE, times - n) }, () => caller.begin());
    for (const { kind } of await Promise.all(turns)) {
      if (kind !== "over") throw new Error(`The call is ${kind}`);
    }
  }
}

const AT_ONCE = 10;

/** @returns the ids of the rows of a page, and of all pages to which "Older calls" leads from there. */
async function callsFrom(page: Page): Promise<readonly string[]> {
  const ids = await page.locator("tbody tr").evaluateAll((rows) => rows.map(({ id }) => id));
  const link = page.getByRole("link", { name: "Older calls" });
  if ((await link.count()) === 0) return ids;
  const { pathname, search } = new URL((await link.getAttribute("href")) ?? "", gateway.url);
  const older = await open(pathname + search, { javaScriptEnabled: false });
  const rest = await callsFrom(older);
  await older.context().close();
  return [...ids, ...rest];
}

describe("the page of calls", () => {
  test("shows a call as it ends, with its trace id, and says that it is live", async ({
    expect,
  }) => {
    const said: string[] = [];
    const page = await open("/activity");
    page.on("console", (message) => said.push(message.text()));
    await page.getByText("Live: new calls appear on top.").waitFor();
    await runTool();
    const row = page.getByRole("row", { name: /steeping_guide/ });
    await row.waitFor();
    expect(await row.innerText()).toMatch(/at demo[\s\S]*console · modern · reads[\s\S]*Answered/);
    expect(await row.locator("code").innerText()).toMatch(/^[0-9a-f]{32}$/);
    await runTool();
    await expect
      .poll(() => page.getByRole("row", { name: /steeping_guide/ }).count(), SOON)
      .toBe(2);
    expect(said).toEqual([]);
    await page.context().close();
  });

  test("P3: is as good without a script: it is loaded again", async ({ expect }) => {
    const page = await open("/activity", { javaScriptEnabled: false });
    expect(await page.getByRole("status").innerText()).toBe("");
    const before = await page.getByRole("row", { name: /steeping_guide/ }).count();
    await runTool();
    await expect
      .poll(async () => {
        await page.getByRole("link", { name: "Reload" }).click();
        return page.getByRole("row", { name: /steeping_guide/ }).count();
      }, SOON)
      .toBe(before + 1);
    await page.getByLabel("Tool").fill("no such tool");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText("No call fits this.").waitFor();
    await page.getByRole("link", { name: "Usage" }).click();
    await page.getByRole("heading", { name: "By tool" }).waitFor();
    expect(await page.getByRole("row", { name: /steeping_guide/ }).innerText()).toContain("0");
    await page.context().close();
  });

  test.for(["/activity", "/usage"])(
    "P18: %s is accessible at the real gateway",
    async (path, { expect }) => {
      const page = await (await browser.newContext({ bypassCSP: true })).newPage();
      await page.goto(gateway.url + path);
      expect(await faultsOf(page)).toEqual([]);
      await page.context().close();
    },
  );

  test("leads to the calls that it shows no more, which have made room for new ones", async ({
    expect,
  }) => {
    const pages: Page[] = [];
    // The second one has older calls from the beginning.
    for (const _ of ["first", "second"]) {
      const page = await open("/activity");
      pages.push(page);
      await page.getByText("Live: new calls appear on top.").waitFor();
      await callTool(205);
      await expect.poll(() => page.locator("tbody tr").count(), SOON).toBe(200);
    }
    for (const page of pages) {
      await expect
        .poll(async () => {
          const loaded = await open("/activity", { javaScriptEnabled: false });
          const [shown, all] = [await callsFrom(page), await callsFrom(loaded)];
          await loaded.context().close();
          return all.length >= 410 && shown.join(" ") === all.join(" ");
        }, SOON)
        .toBe(true);
      await page.context().close();
    }
  });
});
