/**
 * The first walk of somebody new (docs/console.md), in a real browser: their own server behind the gateway, its tool
 * tried, the call seen, a client connected. No file is edited, and nothing is deployed. `PACE=person` takes it at the
 * speed of a person.
 */

import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, type ExpectStatic, test } from "vitest";

import { launchBrowser } from "../support/browser.ts";
import { REDIRECT_URI } from "../support/oauth-requests.ts";
import { Keychain } from "../support/oauth-sdk.ts";
import { Person } from "../support/person-at-browser.ts";
import { type Server, startEverything, startGateway, startWithNpm } from "../support/servers.ts";
import { until } from "../support/until.ts";

/** How long a condition may take to come true: only what fails waits to the end. */
const SOON = { timeout: 20_000, interval: 100 };

let own: Server;
let browser: Browser;

beforeAll(async () => {
  [own, browser] = await Promise.all([startEverything("streamableHttp"), launchBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await own?.stop();
});

/** Signs in with the code that `npm start` prints. */
async function signIn(person: Person, { program }: Server): Promise<void> {
  const code = (): string | undefined => /Sign-in code\s+(\S+)/.exec(program.output())?.[1];
  // It serves a little before it says so.
  await until(() => code() !== undefined, "the sign-in code");
  await person.goes("/login");
  await person.pastes("Owner code", code() ?? "");
  await person.presses("Sign in");
}

/** Puts a server behind the gateway, by its address alone. @returns what the page of the draft says. */
async function addServer(person: Person, url: string): Promise<string> {
  await person.goes("/admin");
  await person.follows("Add and change servers");
  await person.types("Address or JSON", url);
  await person.presses("Read it");
  await person.types("Slug", "mine");
  await person.presses("Keep as a draft");
  await person.page.getByRole("heading", { name: "What was found" }).waitFor();
  const found = await person.page.locator("main").innerText();
  await person.presses(/^Serve it/);
  await person.page.getByRole("button", { name: /^Pause/ }).waitFor();
  return found;
}

/** @returns the page of its result. */
async function tryTool(person: Person): Promise<string> {
  const { page } = person;
  await person.follows("Catalog");
  await person.follows("Everything Reference Server");
  await person.follows("Echo Tool");
  await person.types(/^message/, "the first walk");
  await person.presses(/^(?:Run|Continue)$/);
  const second = page.getByRole("button", { name: /^Run .+ at / });
  const result = page.getByRole("heading", { name: "What it gave" });
  await second.or(result).first().waitFor();
  if (await second.isVisible()) await person.presses(/^Run .+ at /);
  await result.waitFor();
  return page.locator("main").innerText();
}

/** @returns the call as it is listed. */
async function seeCall(person: Person, expect: ExpectStatic): Promise<string> {
  const row = person.page.getByRole("row", { name: /echo/ });
  await expect
    .poll(async () => {
      await person.follows("Activity");
      return row.count();
    }, SOON)
    .toBe(1);
  return row.innerText();
}

/** @returns what Cursor keeps of the link that it is opened with: all that it has of the gateway. */
async function installLink(person: Person): Promise<{ readonly url: string }> {
  await person.follows("Connect");
  await person.follows("Cursor");
  const link = await person.page
    .getByRole("link", { name: "Install in Cursor" })
    .getAttribute("href");
  const { protocol, searchParams } = new URL(link ?? "");
  if (protocol !== "cursor:") throw new Error(`This link opens no Cursor: ${link}`);
  return JSON.parse(atob(searchParams.get("config") ?? ""));
}

/** Approves an application that has opened a page. @returns what the application gets. */
async function approve(person: Person, url: URL): Promise<URLSearchParams> {
  const { page } = person;
  await page.route(`${REDIRECT_URI}**`, (route) => route.fulfill({ body: "You can go back now." }));
  await person.arrives(url.href);
  const arrived = page.waitForRequest((request) => request.url().startsWith(REDIRECT_URI));
  await person.presses("Approve");
  return new URL((await arrived).url()).searchParams;
}

/** Connects a client with exactly what it has of the link, and signs in where it is asked to. */
async function connectClient(person: Person, url: string): Promise<Client> {
  const keychain = new Keychain();
  const transport = (): StreamableHTTPClientTransport =>
    new StreamableHTTPClientTransport(new URL(url), { authProvider: keychain });
  const client = new Client({ name: "first-walk", version: "1" });
  const first = transport();
  try {
    await client.connect(first);
    return client;
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
  }
  const [page] = keychain.redirects;
  if (page === undefined) throw new Error("No page was opened");
  await first.finishAuth(await approve(person, page));
  const signedIn = new Client({ name: "first-walk", version: "1" });
  await signedIn.connect(transport());
  return signedIn;
}

describe.each([
  { way: "without sign-in", start: () => startGateway({ auth: "none" }), signs: false },
  {
    way: "with the sign-in of npm start",
    start: () => startWithNpm({ auth: "oauth" }),
    signs: true,
  },
])("the first walk, $way", ({ start, signs }) => {
  let gateway: Server;
  let person: Person;

  beforeAll(async () => {
    gateway = await start();
    person = await Person.at(browser, gateway.url);
  });
  afterAll(() => gateway?.stop());

  test.runIf(signs)("signs in with the code that the terminal shows", async ({ expect }) => {
    await signIn(person, gateway);
    expect(await person.page.getByRole("heading", { level: 1 }).innerText()).toBe("Your account");
  });

  test("P3: puts a server of this machine behind the gateway, by its address alone", async ({
    expect,
  }) => {
    expect(await addServer(person, own.url)).toMatch(/Reached[\s\S]*Tools[\s\S]*echo/);
  });

  test("P3: tries a tool of it", async ({ expect }) => {
    expect(await tryTool(person)).toContain("Echo: the first walk");
  });

  test("P3: sees that call", async ({ expect }) => {
    expect(await seeCall(person, expect)).toMatch(/at mine[\s\S]*console[\s\S]*Answered/);
  });

  test("P14: connects a client by its install link, with nothing else", async ({ expect }) => {
    const kept = await installLink(person);
    expect(kept).toEqual({ url: `${gateway.url}/mcp` });
    const client = await connectClient(person, kept.url);
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
