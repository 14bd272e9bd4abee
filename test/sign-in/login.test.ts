/** Signing in: with the owner's code, through providers, and through what stands in front. */

import { describe, test } from "vitest";

import { cookieName } from "../../src/auth/sign-in/held-attempt.ts";
import { hashOf } from "../../src/lib/random.ts";
import { signIn } from "../support/oauth-client.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { answerIn, Asking, ownersBrowser, WEB_CLIENT } from "./asking.ts";
import { passTime } from "./clock.ts";
import { FakeProvider } from "./fake-provider.ts";
import { gateway, ORIGIN } from "./gateway.ts";
import { records } from "./people.ts";
import { browserOf, OWNER } from "./sign-in-gateway.ts";
import { sessionIn, through, whoIs } from "./signed-in.ts";
import { SESSION_COOKIE } from "./visitor.ts";

const MINUTE = 60_000;

describe("the owner's code", () => {
  test("opens a session of this browser", async ({ expect }) => {
    const browser = await ownersBrowser();
    const cookie = sessionIn(browser);
    expect(cookie).toMatchObject({ isSecure: true, isHttpOnly: true, sameSite: "lax", path: "/" });
    const found = await whoIs(browser);
    expect(found?.user).toMatchObject({ provider: "owner", isAdmin: true, isDisabled: false });
    const { shard, user } = {
      shard: records().store.ofUser(found?.user.id ?? ""),
      user: found?.user,
    };
    const [entry] = await shard.audit.list(user?.id ?? "");
    expect(entry).toMatchObject({ event: "signed_in", detail: { provider: "owner" } });
  });

  test("B94: is refused at the sixth attempt after five wrong ones", async ({ expect }) => {
    const browser = browserOf();
    let page = await browser.visit("/login");
    for (let n = 0; n < 5; n++) {
      page = await browser.submit(page, { fields: { code: `wrong-${n}` } });
      expect([page.status, page.text]).toEqual([403, expect.stringContaining("not the code")]);
    }
    for (const code of ["wrong", OWNER_CODE]) {
      page = await browser.submit(page, { fields: { code } });
      expect([page.status, sessionIn(browser)]).toEqual([429, undefined]);
      expect(Number(page.headers.get("retry-after"))).toBeGreaterThan(60);
      expect(page.text).toContain("Too many tries");
    }
    expect((await ownersBrowser()).jar.all.length).toBeGreaterThan(0);
    passTime(15 * MINUTE);
    await signIn(browser, OWNER_CODE);
    expect(sessionIn(browser)).toBeDefined();
  });

  test("B94: is checked five times at most when many come at once", async ({ expect }) => {
    const browser = browserOf();
    const page = await browser.visit("/login");
    const pages = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        browser.submit(page, { fields: { code: `wrong-${n}` } }),
      ),
    );
    const looked = pages.filter(({ status }) => status === 403);
    expect([looked.length, pages.filter(({ status }) => status === 429).length]).toEqual([5, 7]);
  });

  test("is counted for an attempt that waits for one, and for no other", async ({ expect }) => {
    const browser = browserOf();
    const login = await browser.visit("/login");
    const question = await (await Asking.begin()).visit({}, browser);
    const asked = question.forms[0]?.controls.find(({ name }) => name === "handle")?.value ?? "";
    const madeUp = `${"a".repeat(43)}.${Date.now()}`;
    const cookie = cookieName(await hashOf(madeUp));
    browser.jar.take(new URL(ORIGIN), [`${cookie}=x; Path=/; Secure; HttpOnly`]);
    for (const handle of Array.from({ length: 5 }, () => [asked, madeUp]).flat()) {
      const answered = await browser.submit(login, { fields: { handle, code: "wrong" } });
      expect([answered.status, sessionIn(browser)]).toEqual([400, undefined]);
    }
    await browser.submit(login, { fields: { code: OWNER_CODE } });
    expect(sessionIn(browser)).toBeDefined();
  });

  test("resets the count of wrong ones when it is right", async ({ expect }) => {
    const browser = browserOf();
    for (let n = 0; n < 3; n++) {
      let page = await browser.visit("/login?fresh=1");
      for (let m = 0; m < 4; m++) page = await browser.submit(page, { fields: { code: "wrong" } });
      expect(page.status).toBe(403);
      await browser.submit(page, { fields: { code: OWNER_CODE } });
      expect(sessionIn(browser)).toBeDefined();
      passTime(11 * MINUTE);
    }
  });

  test("is not accepted from a page of another attempt or browser", async ({ expect }) => {
    const page = await browserOf().visit("/login");
    const other = browserOf();
    await other.visit("/login");
    const answered = await other.submit(page, { fields: { code: OWNER_CODE } });
    expect([answered.status, sessionIn(other)]).toEqual([400, undefined]);
  });
});

describe("a session", () => {
  test("B96: is new after a sign-in, and the earlier one is invalid", async ({ expect }) => {
    const browser = browserOf();
    const planted = "a".repeat(43);
    const cookie = { host: "gw.example.com", path: "/", isSecure: true, isHttpOnly: true };
    browser.jar.put({
      name: SESSION_COOKIE,
      value: planted,
      ...cookie,
      sameSite: "lax",
      expiresAt: undefined,
    });
    await signIn(browser, OWNER_CODE);
    const first = sessionIn(browser)?.value;
    expect(first).toMatch(/^[\w-]{43}$/);
    expect(first).not.toBe(planted);
    passTime(11 * MINUTE);
    const page = await browser.visit("/login?fresh=1");
    await browser.submit(page, { fields: { code: OWNER_CODE } });
    expect(sessionIn(browser)?.value).not.toBe(first);
    expect(await whoIs(browser)).toBeDefined();
    const old = browserOf();
    old.jar.put({
      name: SESSION_COOKIE,
      value: first ?? "",
      ...cookie,
      sameSite: "lax",
      expiresAt: undefined,
    });
    expect(await whoIs(old)).toBeUndefined();
  });

  test("that exists needs no sign-in", async ({ expect }) => {
    const browser = await ownersBrowser();
    const { hops } = await browser.visit("/login?to=/admin");
    expect(hops.slice(0, 2).map(({ url, status }) => [url.pathname, status])).toMatchObject([
      ["/login", 303],
      ["/admin", expect.any(Number)],
    ]);
  });

  test("that is old needs a sign-in for lasting access", async ({ expect }) => {
    const browser = await ownersBrowser();
    expect((await browser.visit("/login?fresh=1")).hops[0]?.status).toBe(303);
    passTime(10 * MINUTE);
    const page = await browser.visit("/login?fresh=1&to=/account");
    expect([page.status, page.url.pathname]).toEqual([200, "/login"]);
  });

  test("of a disabled user is invalid", async ({ expect }) => {
    const provider = new FakeProvider("one");
    const options = { providers: [provider] };
    const browser = browserOf(options);
    await through(provider, browser);
    const { user } = (await whoIs(browser, options)) ?? {};
    await records()
      .store.ofUser(user?.id ?? "")
      .users.change(user?.id ?? "", { isDisabled: true });
    expect(await whoIs(browser, options)).toBeUndefined();
  });
});

describe("the page after the sign-in", () => {
  test.for([
    ["/account", "/account"],
    ["/admin?x=1", "/admin?x=1"],
    ["/", "/"],
    ["//evil.example", "/account"],
    ["/\\evil.example", "/account"],
    ["https://evil.example/", "/account"],
    ["javascript:alert(1)", "/account"],
    ["/\t/evil.example", "/account"],
    ["/login", "/account"],
    ["/logout", "/account"],
    ["/callback/x", "/account"],
    ["account", "/account"],
    ["", "/account"],
  ] as const)("for %j is %j", async ([to, expected], { expect }) => {
    const browser = await ownersBrowser();
    const { hops } = await browser.visit(`/login?${new URLSearchParams({ to }).toString()}`);
    expect(hops[0]?.headers.get("location")).toBe(expected);
  });
});

describe("among the providers,", () => {
  test("a single provider gets the browser at once, and gets its state back", async ({
    expect,
  }) => {
    const provider = new FakeProvider("one");
    const browser = browserOf({ providers: [provider] });
    const { left, status } = await browser.visit("/login?to=/admin");
    expect([status, left?.origin]).toEqual([303, provider.origin]);
    const back = await browser.visit(provider.wayBack(left));
    expect(back.hops[0]?.headers.get("location")).toBe("/admin");
    expect(provider.started).toMatchObject([{ fresh: false, callback: `${ORIGIN}/callback/one` }]);
    expect(provider.finished).toMatchObject([
      {
        ...{ state: left?.searchParams.get("state"), callback: `${ORIGIN}/callback/one` },
        memory: { verifier: "verifier-of-one" },
      },
    ]);
  });

  test("each of several has a button, beside the owner's code", async ({ expect }) => {
    const providers = [new FakeProvider("one"), new FakeProvider("two"), OWNER];
    const browser = browserOf({ providers });
    const page = await browser.visit("/login");
    const labels = page.forms.flatMap(({ buttons }) => buttons.map(({ label }) => label));
    expect(labels).toEqual(["Continue with one", "Continue with two", "Sign in"]);
    const { left } = await browser.submit(page, { button: "Continue with two" });
    expect(left?.host).toBe("two.idp.example");
    expect(answerIn(left)["state"]).toMatch(/^[\w-]{43}\.\d{13}$/);
  });

  test("an unknown provider is not found", async ({ expect }) => {
    const browser = browserOf({ providers: [new FakeProvider("one"), OWNER] });
    const page = await browser.visit("/login");
    const button = { button: "Continue with one" };
    for (const name of ["two", "owner", "", "__proto__"]) {
      const form = page.forms.find(({ buttons }) =>
        buttons.some(({ label }) => label === button.button),
      );
      const provider = form?.controls.find((control) => control.name === "provider");
      if (provider === undefined) throw new Error("No button");
      const fields = { provider: name };
      const answered = await browser.submit(page, { ...button, fields });
      expect([answered.status, answered.left]).toEqual([400, undefined]);
    }
  });

  test("one that cannot be reached leads to an error page, and can be tried again", async ({
    expect,
  }) => {
    const provider = new FakeProvider("one");
    const browser = browserOf({ providers: [provider, OWNER] });
    const page = await browser.visit("/login");
    provider.isReachable = false;
    const failed = await browser.submit(page, { button: "Continue with one" });
    expect([failed.status, failed.text]).toEqual([
      503,
      expect.stringContaining("cannot be reached"),
    ]);
    provider.isReachable = true;
    expect((await browser.submit(page, { button: "Continue with one" })).left).toBeDefined();
  });

  test("each asks for a new sign-in where a session is not enough", async ({ expect }) => {
    const provider = new FakeProvider("one");
    const options = { providers: [provider] };
    const browser = browserOf(options);
    await through(provider, browser, "/login?fresh=1");
    const asking = await Asking.begin(WEB_CLIENT, options);
    await browser.submit(await asking.visit({ prompt: "login" }, browser), { button: "Approve" });
    expect(provider.started.map(({ fresh }) => fresh)).toEqual([true, true]);
  });
});

describe("every page", () => {
  test("B95: has the same headers, whatever its content", async ({ expect }) => {
    const browser = browserOf();
    const asking = await Asking.begin();
    const pages = [
      await browser.visit("/login"),
      await browser.visit("/login?attempt=nope"),
      await browser.visit("/authorize"),
      await asking.visit({}, browser),
      await browser.visit("/callback/one?state=x"),
      await browser.visit("/setup?token=x"),
      await browser.submit(await browser.visit("/login"), { fields: { code: "wrong" } }),
    ];
    expect(pages.map(({ status }) => status)).toEqual([200, 400, 400, 200, 400, 410, 403]);
    for (const { headers, html } of pages) {
      expect(Object.fromEntries(headers)).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
        "strict-transport-security": expect.stringContaining("max-age="),
      });
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'.*form-action 'self'/);
      expect(headers.has("server")).toBe(false);
      expect(html).not.toMatch(/<script|\bat .*\.ts:/i);
    }
  });

  test("B114: is served over https only", async ({ expect }) => {
    const url = "http://gw.example.com/login?to=/admin";
    const shown = await gateway.send(url, { method: "GET", headers: {} });
    expect([shown.status, shown.headers.get("location")]).toEqual([
      ...[308, `${ORIGIN}/login?to=/admin`],
    ]);
    const sent = await gateway.send(url, {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: `code=${OWNER_CODE}`,
    });
    expect([sent.status, sent.headers.getSetCookie()]).toEqual([403, []]);
  });
});
