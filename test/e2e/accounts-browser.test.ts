/**
 * The whole way to a server that demands a login, with real parts: an application on the official SDK calls, its
 * user signs in to the gateway in Chromium, sees what is to be connected, signs in at the vendor's own pages, and
 * the call that was held, or is made again, gives the result. Every page of the gateway on the way is looked at: on a
 * phone and on a desk, in light and dark.
 */

import { UrlElicitationRequiredError } from "@modelcontextprotocol/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { launchBrowser } from "../support/browser.ts";
import { REDIRECT_URI } from "../support/oauth-requests.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { Keychain, type SdkConnection, type SdkKind } from "../support/oauth-sdk.ts";
import { SDK_V2 } from "../support/oauth-sdk-v2.ts";
import { faultsOf } from "../support/page-faults.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { type RealVendor, startRealOidc } from "../support/vendor/real-oidc.ts";

const TOOL = "test_simple_text";
const PATIENCE_MS = 120_000;

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

/** Looking at a page in each size and colour takes a second. */
type Eyes = "looks" | "glances";

/** A user at a browser of their own, who looks at each page of the gateway. */
class User {
  readonly faults: string[] = [];
  /** The addresses outside this machine that a page asked for. */
  readonly escapes: string[] = [];
  page: Page;
  readonly #gateway: string;
  readonly #eyes: Eyes;

  private constructor(page: Page, gateway: string, eyes: Eyes) {
    this.page = page;
    this.#gateway = gateway;
    this.#eyes = eyes;
  }

  static async at(gateway: string, eyes: Eyes = "looks"): Promise<User> {
    // Taller than the pages, so that nothing has to be scrolled to.
    const context = await browser.newContext({ viewport: { width: 1280, height: 1600 } });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const user = new User(page, gateway, eyes);
    await context.route(/./, (route) => {
      const { hostname, href } = new URL(route.request().url());
      if (href.startsWith(REDIRECT_URI)) return route.fulfill({ body: "You can go back now." });
      if (hostname === "localhost") return route.continue();
      // The vendor's own page wants a typeface.
      if (hostname === "fonts.googleapis.com") return route.abort();
      user.escapes.push(href);
      return route.abort();
    });
    return user;
  }

  /** Approves an application, and signs in where that is asked for. @returns what the application is told. */
  async approve(url: URL): Promise<URLSearchParams> {
    await this.page.goto(url.href);
    const back = this.page.waitForRequest((request) => request.url().startsWith(REDIRECT_URI));
    await this.page.getByRole("button", { name: "Approve" }).click();
    await this.page.getByLabel("Owner code", { exact: true }).fill(OWNER_CODE);
    await this.page.getByRole("button", { name: "Sign in", exact: true }).click();
    const { searchParams } = new URL((await back).url());
    // What the browser shows where nobody listens may come late, and would interrupt the next page.
    const left = this.page;
    this.page = await left.context().newPage();
    await left.close();
    return searchParams;
  }

  /** Reads the page of the link, and goes on to the vendor. */
  async leave(link: string): Promise<void> {
    await this.page.goto(link);
    await this.look("Connect Notes");
    await this.page.getByRole("button", { name: /^Continue to localhost:/ }).click();
    await this.page.waitForURL((url) => url.origin !== this.#gateway);
  }

  /** Signs in at the vendor's page if it asks who is there, and allows what it names. */
  async allow(): Promise<void> {
    const { page } = this;
    const login = page.getByPlaceholder("Enter any login");
    if (await login.isVisible()) {
      await login.fill("alice");
      await page.getByPlaceholder("and password").fill("x");
      await page.getByRole("button", { name: "Sign-in" }).click();
    }
    await page.getByRole("button", { name: "Continue" }).click();
    await this.look("Notes is connected");
  }

  async decline(): Promise<void> {
    await this.page.getByRole("link", { name: "Cancel" }).click();
    await this.look("You declined");
  }

  /** Waits for a page of the gateway by its heading, and looks at it in each size and colour. */
  async look(heading: string): Promise<void> {
    await this.page.getByRole("heading", { level: 1, name: heading }).waitFor();
    if (this.#eyes === "glances") return;
    const faults = await faultsOf(this.page);
    this.faults.push(...faults.map((fault) => `${heading}: ${fault}`));
    await this.page.setViewportSize({ width: 1280, height: 1600 });
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }

  /** @returns what a person reads about the account at the server. */
  async entry(path: string, heading: string): Promise<string> {
    await this.page.goto(this.#gateway + path);
    await this.look(heading);
    const part = this.page.locator("section", { hasText: "Accounts at servers" });
    return part.getByRole("listitem").filter({ hasText: "Notes" }).first().innerText();
  }
}

let vendor: RealVendor;
let gateway: Server;
beforeAll(async () => {
  vendor = await startRealOidc();
  const servers = { notes: { url: vendor.url, auth: "oauth", oauth: { label: "Notes" } } };
  gateway = await startGateway({ auth: "oauth", servers });
});
afterAll(() => Promise.all([gateway?.stop(), vendor?.stop()]));

/** An application whose user sits at a browser. */
class Application {
  readonly #keychain = new Keychain();
  readonly #kind: SdkKind;
  readonly #user: User;
  #connection: SdkConnection | undefined;
  /** What the user does with a page that the application opens, and the doing of it. */
  use: (link: string) => Promise<void> = () => Promise.reject(new Error("No page is expected"));
  #using: Promise<void> | undefined;

  constructor(kind: SdkKind, user: User) {
    this.#kind = kind;
    this.#user = user;
  }

  async connect(): Promise<void> {
    const first = this.#open();
    await first.connect().catch((error: unknown) => {
      if (!(error instanceof this.#kind.Unauthorized)) throw error;
    });
    const [redirect] = this.#keychain.redirects;
    if (redirect === undefined) throw new Error("The user was sent nowhere");
    await first.finish(await this.#user.approve(redirect));
    this.#connection = this.#open();
    await this.#connection.connect();
  }

  /** Calls; where the SDK leaves it to the application to open the page, opens it, and calls again. */
  async call(): Promise<unknown> {
    try {
      const result = await this.#connection?.callTool(TOOL);
      await this.#using;
      return result?.["content"];
    } catch (error) {
      if (!(error instanceof UrlElicitationRequiredError)) throw error;
      await this.use(error.elicitations[0]?.url ?? "");
      const result = await this.#connection?.callTool(TOOL);
      return result?.["content"];
    }
  }

  #open(): SdkConnection {
    const url = new URL(`${gateway.url}/mcp`);
    return this.#kind.open(url, this.#keychain, fetch, (link) => {
      this.#using = this.use(link);
    });
  }

  async close(): Promise<void> {
    await this.#connection?.close();
    await this.#user.close();
  }
}

const TEXT = [{ type: "text", text: expect.any(String) }];

test("U73 an application of 2025-11-25 calls, its user connects an account at the vendor's pages, and calls again", async ({
  onTestFinished,
}) => {
  const user = await User.at(gateway.url);
  const application = new Application(kindOf("v2-legacy"), user);
  onTestFinished(() => application.close());
  await application.connect();
  application.use = async (link) => {
    await user.leave(link);
    await user.decline();
    await user.leave(link);
    await user.allow();
  };
  expect(await application.call()).toEqual(TEXT);
  // It has got a refresh token, which is what `offline_access` asks for.
  expect(await user.page.innerText("main")).not.toContain("Not allowed");
  expect(await user.entry("/account", "Your account")).toContain("Connected");
  expect(await user.entry("/admin", "Admin")).toContain("Owner Connected");

  await vendor.withdraw();
  application.use = async (link) => {
    expect(await user.entry("/account", "Your account")).toContain("Connect it again");
    await user.leave(link);
    await user.allow();
  };
  expect(await application.call()).toEqual(TEXT);
  expect(user.faults).toEqual([]);
  expect(user.escapes).toEqual([]);
});

test("an application of 2026-07-28 calls, and its call is held while its user connects the account", async ({
  onTestFinished,
}) => {
  await vendor.withdraw();
  const user = await User.at(gateway.url, "glances");
  const application = new Application(kindOf("v2-modern"), user);
  onTestFinished(() => application.close());
  await application.connect();
  application.use = async (link) => {
    await user.leave(link);
    await user.allow();
  };
  expect(await application.call()).toEqual(TEXT);
  expect(user.escapes).toEqual([]);
});

function kindOf(wanted: string): SdkKind {
  const kind = SDK_V2.find(({ name }) => name === wanted);
  if (kind === undefined) throw new Error(`There is no ${wanted}`);
  return kind;
}
