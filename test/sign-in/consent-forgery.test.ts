/** Forged answers to the consent question, and the headers by which browsers reveal them. */

import { describe, test } from "vitest";

import type { Browser, Page } from "../support/oauth-browser.ts";
import { Asking, ownersBrowser } from "./asking.ts";
import { ORIGIN } from "./gateway.ts";
import { browserOf, signInGateway } from "./sign-in-gateway.ts";

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
