/** A provider sends the browser back: to the attempt that sent it there, once, and to no other. */

import { describe, test } from "vitest";

import type { Browser, Page } from "../support/oauth-browser.ts";
import { answerIn, Asking } from "./asking.ts";
import { FakeProvider, known, stranger } from "./fake-provider.ts";
import { ORIGIN } from "./gateway.ts";
import { browserOf, OWNER, type SignInOptions } from "./sign-in-gateway.ts";

interface Journey {
  readonly one: FakeProvider;
  readonly two: FakeProvider;
  readonly options: SignInOptions;
  readonly asking: Asking;
  readonly browser: Browser;
  /** The provider to which the browser was redirected: `one`. */
  readonly away: URL;
}

/** Up to the page of a provider. */
async function journey(): Promise<Journey> {
  const [one, two] = [new FakeProvider("one"), new FakeProvider("two")];
  const options = { providers: [one, two, OWNER] };
  const asking = await Asking.begin(undefined, options);
  const browser = browserOf(options);
  const login = await browser.submit(await asking.visit({}, browser), { button: "Approve" });
  const { left } = await browser.submit(login, { button: "Continue with one" });
  if (left === undefined) throw new Error("Not sent to the provider");
  return { one, two, options, asking, browser, away: left };
}

/** No application gets a response, no user is signed in, and no provider is asked. */
function isRefused({ status, left, headers }: Page): boolean {
  return status === 400 && left === undefined && headers.getSetCookie().length === 0;
}

test("the callback redirects to the application, with a code and a session", async ({ expect }) => {
  const { one, asking, browser, away } = await journey();
  const page = await browser.visit(one.wayBack(away));
  expect(page.status).toBe(303);
  expect(answerIn(page.left)).toMatchObject({ state: asking.state, iss: ORIGIN });
  expect(page.headers.getSetCookie().map((cookie) => cookie.replace(/=.*/, ""))).toEqual([
    "__Host-edgeway-session",
    expect.stringMatching(/^__Host-edgeway-attempt-/),
  ]);
  expect((await asking.redeem(page.left ?? "")).status).toBe(200);
});

describe("the callback is refused", () => {
  test("B98: in another browser", async ({ expect }) => {
    const { one, options, browser, away } = await journey();
    const other = browserOf(options);
    await other.visit("/login");
    expect(isRefused(await other.visit(one.wayBack(away)))).toBe(true);
    expect(one.finished).toEqual([]);
    expect((await browser.visit(one.wayBack(away))).left).toBeDefined();
  });

  test("B98: the second time", async ({ expect }) => {
    const { one, browser, away } = await journey();
    const cookies = browser.jar.all;
    expect((await browser.visit(one.wayBack(away))).left).toBeDefined();
    for (const cookie of cookies) browser.jar.put(cookie);
    expect(isRefused(await browser.visit(one.wayBack(away)))).toBe(true);
    expect(one.finished).toHaveLength(1);
  });

  test("B98: all but once of eight concurrent times", async ({ expect }) => {
    const { one, browser, away } = await journey();
    const pages = await Promise.all(
      Array.from({ length: 8 }, () => browser.visit(one.wayBack(away))),
    );
    expect(pages.filter(({ left }) => left !== undefined)).toHaveLength(1);
    expect(pages.filter(({ status }) => status === 400)).toHaveLength(7);
    expect(one.finished).toHaveLength(1);
  });

  test.for([
    ["altered", (state: string) => `state=${state.slice(0, -1)}${state.endsWith("A") ? "B" : "A"}`],
    ["absent", () => ""],
    ["empty", () => "state="],
    ["there twice", (state: string) => `state=${state}&state=${state}`],
    ["no handle", () => "state=../../x"],
  ] as const)("B98: with a state that is %s", async ([, stateOf], { expect }) => {
    const { one, browser, away } = await journey();
    const state = stateOf(away.searchParams.get("state") ?? "");
    expect(isRefused(await browser.visit(`/callback/one?code=x&${state}`))).toBe(true);
    expect(one.finished).toEqual([]);
  });

  test.for(["two", "three", "owner", "", "../one"])(
    "B99: at %j, which did not receive the browser",
    async (name, { expect }) => {
      const { one, two, browser, away } = await journey();
      const url = one
        .wayBack(away)
        .replace("/callback/one", `/callback/${encodeURIComponent(name)}`);
      expect(isRefused(await browser.visit(url))).toBe(true);
      expect([one.finished, two.finished]).toEqual([[], []]);
      expect((await browser.visit(one.wayBack(away))).left).toBeDefined();
    },
  );

  test("before the browser was sent to a provider", async ({ expect }) => {
    const one = new FakeProvider("one");
    const options = { providers: [one, OWNER] };
    const browser = browserOf(options);
    const page = await browser.visit("/login");
    const handle = page.forms[0]?.controls.find(({ name }) => name === "handle")?.value ?? "";
    expect(isRefused(await browser.visit(`/callback/one?code=x&state=${handle}`))).toBe(true);
    const asking = await Asking.begin(undefined, options);
    const consent = await asking.visit({}, browser);
    const other = consent.forms[0]?.controls.find(({ name }) => name === "handle")?.value ?? "";
    expect(isRefused(await browser.visit(`/callback/one?code=x&state=${other}`))).toBe(true);
    expect(one.finished).toEqual([]);
  });
});

describe("when the provider's answer is invalid,", () => {
  test.for([
    ["bad-state", 400],
    ["bad-token", 400],
    ["provider-error", 400],
    ["not-allowed", 403],
    ["not-fresh", 403],
    ["provider-unreachable", 503],
  ] as const)(
    "B97: %s leads to a page, without a session or a code",
    async ([reason, status], { expect }) => {
      const { one, asking, browser, away } = await journey();
      one.result = { kind: "refused", reason, detail: "A detail for the operator." };
      const page = await browser.visit(one.wayBack(away));
      expect([page.status, page.left]).toEqual([status, undefined]);
      expect(browser.jar.all).toEqual([]);
      expect(page.text).toContain("Reference");
      expect(page.text).not.toMatch(/detail for the operator|code-of-one/);
      one.result = known(stranger());
      expect((await browser.visit(one.wayBack(away))).status).toBe(400);
      expect((await asking.redeem(page.url)).status).toBe(400);
    },
  );

  test("a provider that fails completely ends the attempt, and does not break the gateway", async ({
    expect,
  }) => {
    const { one, browser, away } = await journey();
    one.finish = () => Promise.reject(new Error("a bug"));
    await expect(browser.visit(one.wayBack(away))).rejects.toThrow("a bug");
    expect(isRefused(await browser.visit(one.wayBack(away)))).toBe(true);
  });
});
