/** Forged answers to the consent question, and the headers by which browsers reveal them. */

import { describe, test } from "vitest";

import type { Browser, Page } from "../support/oauth-browser.ts";
import type { Identity } from "../../src/auth/identity/provider.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { Asking, ownersBrowser, WEB_CLIENT } from "./asking.ts";
import { FakeProvider, known, stranger } from "./fake-provider.ts";
import { ORIGIN } from "./gateway.ts";
import { records } from "./people.ts";
import { browserOf, OWNER, signInGateway, type SignInOptions } from "./sign-in-gateway.ts";
import { through, whoIs } from "./signed-in.ts";

/** Sends the form of a consent page as a client that does not use the page. */
function postForm(
  browser: Browser,
  page: Page,
  { body, headers = {} }: { body?: string | null; headers?: Readonly<Record<string, string>> } = {},
): Promise<Response> {
  const cookie = browser.jar.headerFor(page.url, "POST", false);
  return signInGateway().send(`${ORIGIN}/authorize`, {
    method: "POST",
    headers: {
      "Content-Type": "application/x-www-form-urlencoded",
      ...(cookie === undefined ? {} : { Cookie: cookie }),
      ...headers,
    },
    body: body === undefined ? approvalOf(page) : body,
  });
}

function approvalOf(page: Page, decision = "approve"): string {
  const [, handle = ""] = /name="handle" value="([^"]+)"/.exec(page.html) ?? [];
  return new URLSearchParams({ handle, decision }).toString();
}

describe("an answer is taken only from the person:", () => {
  test("B44: not without the cookie", async ({ expect }) => {
    const asking = await Asking.begin();
    const page = await asking.visit({}, await ownersBrowser());
    const response = await postForm(browserOf(), page);
    expect([response.status, response.headers.get("location")]).toEqual([400, null]);
  });

  test("B47: not with the cookies of another browser", async ({ expect }) => {
    const asking = await Asking.begin();
    const page = await asking.visit({}, await ownersBrowser());
    const other = await ownersBrowser();
    await asking.visit({}, other);
    expect((await postForm(other, page)).status).toBe(400);
  });

  test.for<Readonly<Record<string, string>>>([
    { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" },
    { Origin: "https://evil.example" },
    { Origin: "http://gw.example.com" },
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
    { Origin: "null", "Sec-Fetch-Site": "cross-site" },
  ])("B45: not from elsewhere: %j", async (headers, { expect }) => {
    const asking = await Asking.begin();
    const browser = await ownersBrowser();
    const page = await asking.visit({}, browser);
    const response = await postForm(browser, page, { headers });
    expect([response.status, response.headers.get("location")]).toEqual([403, null]);
    expect((await postForm(browser, page)).status).toBe(303);
  });

  test.for<Readonly<Record<string, string>>>([
    { Origin: ORIGIN },
    { Origin: ORIGIN, "Sec-Fetch-Site": "same-origin" },
    { Origin: "null", "Sec-Fetch-Site": "same-origin" },
    { "Sec-Fetch-Site": "same-origin" },
    { "Sec-Fetch-Site": "none" },
    {},
  ])("B45: from the page itself, with the headers of browsers: %j", async (headers, { expect }) => {
    const asking = await Asking.begin();
    const browser = await ownersBrowser();
    const page = await asking.visit({}, browser);
    expect((await postForm(browser, page, { headers })).status).toBe(303);
  });

  test.for([
    ["nothing", "", "application/x-www-form-urlencoded"],
    ["no body", null, "application/x-www-form-urlencoded"],
    ["no type", undefined, ""],
    ["JSON", '{"decision":"approve"}', "application/json"],
    ["a form of another kind", "--x--", "multipart/form-data; boundary=x"],
    ["another decision", "maybe", "application/x-www-form-urlencoded"],
    ["17 KB", `decision=approve&x=${"x".repeat(17_000)}`, "application/x-www-form-urlencoded"],
  ] as const)("B47a: %s is no answer", async ([, body, type], { expect }) => {
    const asking = await Asking.begin();
    const browser = await ownersBrowser();
    const page = await asking.visit({}, browser);
    const given = body === "maybe" ? approvalOf(page, "maybe") : body;
    const headers = { "Content-Type": type };
    const response = await postForm(browser, page, {
      headers,
      ...(given !== undefined && { body: given }),
    });
    expect([response.status, response.headers.get("location")]).toEqual([400, null]);
    expect((await postForm(browser, page)).status).toBe(303);
  });

  test("not from a user whom the page did not name", async ({ expect }) => {
    const asking = await Asking.begin();
    const browser = browserOf();
    const page = await asking.visit({}, browser);
    const owner = await ownersBrowser();
    for (const cookie of owner.jar.all) browser.jar.put(cookie);
    const answered = await browser.submit(page, { button: "Approve" });
    expect([answered.left, answered.url.pathname]).toEqual([undefined, "/login"]);
  });
});

interface NamesAda {
  readonly ada: Identity;
  readonly provider: FakeProvider;
  readonly options: SignInOptions;
  readonly asking: Asking;
  readonly browser: Browser;
  /** It names Ada, who has signed out since. */
  readonly page: Page;
}

async function pageThatNamesAda(...others: SignInOptions["providers"] & {}): Promise<NamesAda> {
  const ada = stranger();
  const provider = new FakeProvider("one", known(ada));
  const options = { providers: [provider, ...others] };
  const asking = await Asking.begin(WEB_CLIENT, options);
  const browser = browserOf(options);
  await through(provider, browser);
  const page = await asking.visit({}, browser);
  await browser.submit(await browser.visit("/account"), { button: "Sign out" });
  return { ada, provider, options, asking, browser, page };
}

/** What somebody has approved, and the grants that came of it. */
async function givenBy(id: string): Promise<readonly (readonly unknown[])[]> {
  const { approvals, rows } = records().store.ofUser(id);
  return [await approvals.list(id), (await rows.list(`grant:${id}:`)).keys];
}

describe("the approval of a page that names one person", () => {
  test("B47b: gives nothing of another, whom the provider names: they are asked, by name", async ({
    expect,
  }) => {
    const { provider, options, asking, browser, page } = await pageThatNamesAda();
    provider.result = known(stranger({ name: "Bea" }));
    await through(provider, browser);
    const bea = (await whoIs(browser, options))?.user.id ?? "";
    const away = await browser.submit(page, { button: "Approve" });
    // Single sign-on: the provider shows no page.
    expect(provider.started.at(-1)?.fresh).toBe(false);
    const cookies = browser.jar.all;
    const asked = await browser.visit(provider.wayBack(away.left));
    expect([asked.status, asked.left]).toEqual([200, undefined]);
    expect(asked.text).toMatch(/with another account now.*Signed in as.*Bea/);
    expect(await givenBy(bea)).toEqual([[], []]);
    // The earlier page is worth nothing, though a browser may still show it.
    const earlier = cookies.filter(({ name }) => name.startsWith("__Host-edgeway-attempt-"));
    for (const cookie of earlier) browser.jar.put(cookie);
    const again = await browser.submit(page, { button: "Approve" });
    expect([again.status, again.left]).toEqual([400, undefined]);
    expect(await givenBy(bea)).toEqual([[], []]);
    const approved = await browser.submit(asked, { button: "Approve" });
    expect((await asking.tokens(approved)).scope).toBe("mcp");
    expect(await givenBy(bea)).toMatchObject([[{ client: asking.client.client_id }], [{}]]);
  });

  test("B47b: gives nothing of the owner, who enters the code, also when it is sent twice", async ({
    expect,
  }) => {
    const { options, browser, page } = await pageThatNamesAda(OWNER);
    const login = await browser.submit(page, { button: "Approve" });
    const { jar } = browser;
    const cookies = jar.all;
    const asked = await browser.submit(login, { fields: { code: OWNER_CODE } });
    for (const cookie of cookies) jar.put(cookie);
    const repeated = await browser.submit(login, { fields: { code: OWNER_CODE } });
    for (const { status, left, text } of [asked, repeated]) {
      expect([status, left]).toEqual([200, undefined]);
      expect(text).toMatch(/Signed in as.*Owner/);
    }
    expect((await whoIs(browser, options))?.user.provider).toBe("owner");
    expect((await browser.submit(repeated, { button: "Approve" })).left).toBeDefined();
  });

  test("goes on when that person signs in again", async ({ expect }) => {
    const { provider, asking, browser, page } = await pageThatNamesAda();
    const away = await browser.submit(page, { button: "Approve" });
    const approved = await browser.visit(provider.wayBack(away.left));
    expect((await asking.tokens(approved)).scope).toBe("mcp");
  });
});
