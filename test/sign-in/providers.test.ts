/** The facts that a provider states about a person, and their effect. */

import { describe, test } from "vitest";

import type { Identity } from "../../src/auth/identity/provider.ts";
import { PATHS } from "../../src/pages/view/paths.ts";
import { answerIn, Asking, WEB_CLIENT } from "./asking.ts";
import { ADA, FakeAccess, FakeProvider, known, stranger } from "./fake-provider.ts";
import { ORIGIN } from "./gateway.ts";
import { records, ROOT_EMAIL } from "./people.ts";
import { browserOf, type SignInOptions } from "./sign-in-gateway.ts";
import { sessionIn, through, whoIs } from "./signed-in.ts";

async function countUsers(): Promise<number> {
  const { store } = records();
  const all = await Promise.all(store.allOfUsers().map(({ users }) => users.all()));
  return all.flat().length;
}

function cameThrough(name: string): Readonly<Record<string, string>> {
  return { "cf-access-jwt-assertion": name };
}

describe("a provider's answer", () => {
  test("becomes a user, and the data for later checks is stored encrypted", async ({ expect }) => {
    const { isAdmin, ...identity } = stranger();
    const provider = new FakeProvider("one", known({ ...identity, isAdmin }));
    const browser = browserOf({ providers: [provider] });
    await through(provider, browser);
    const id = await (await records().secrets()).userId(identity.issuer, identity.subject);
    const user = await records().store.ofUser(id).users.find(id);
    expect(user).toMatchObject({ ...identity, provider: "one", isDisabled: false });
    expect(user?.upkeep).toBeDefined();
    expect(JSON.stringify(user)).not.toContain("upkeep-secret");
  });

  test("B109: about a person who is not admitted is a page, without a user, session or code", async ({
    expect,
  }) => {
    const provider = new FakeProvider("one", {
      ...{ kind: "refused", reason: "not-allowed", detail: "Not on the list." },
    });
    const options = { providers: [provider] };
    const browser = browserOf(options);
    const asking = await Asking.begin(undefined, options);
    const before = await countUsers();
    const { left } = await browser.submit(await asking.visit({}, browser), { button: "Approve" });
    const page = await browser.visit(provider.wayBack(left));
    expect([page.status, page.left]).toEqual([403, undefined]);
    expect([browser.jar.all, await countUsers()]).toEqual([[], before]);
    provider.result = known(stranger());
    await through(provider, browser);
    expect(await countUsers()).toBe(before + 1);
    expect(page.text).toContain("Reference");
  });

  test("B109: about a disabled user gives no access", async ({ expect }) => {
    const identity = stranger();
    const id = await (await records().secrets()).userId(identity.issuer, identity.subject);
    const provider = new FakeProvider("one", known(identity));
    const browser = browserOf({ providers: [provider] });
    await through(provider, browser);
    const { users, audit } = records().store.ofUser(id);
    await users.change(id, { isDisabled: true });
    const other = browserOf({ providers: [provider] });
    const page = await through(provider, other);
    expect([page.status, sessionIn(other)]).toEqual([403, undefined]);
    expect(await audit.list(id, 1)).toMatchObject([{ event: "sign_in_denied" }]);
    expect(await users.find(id)).toMatchObject({ isDisabled: true });
  });

  test("gives a user who is not an administrator no token for the operator's pages", async ({
    expect,
  }) => {
    const provider = new FakeProvider("one", known(stranger()));
    const options = { providers: [provider] };
    const asking = await Asking.begin(undefined, options);
    const browser = browserOf(options);
    const asked = { resource: `${ORIGIN}/admin`, scope: "admin" };
    const { left } = await browser.submit(await asking.visit(asked, browser), {
      button: "Approve",
    });
    const page = await browser.visit(provider.wayBack(left));
    expect(answerIn(page.left)).toMatchObject({ error: "invalid_scope", state: asking.state });
    expect(provider.started).toMatchObject([{ fresh: true }]);
    provider.result = known(stranger({ email: ROOT_EMAIL, isAdmin: true }));
    const admin = browserOf(options);
    const away = await admin.submit(await asking.visit(asked, admin), { button: "Approve" });
    const code = await admin.visit(provider.wayBack(away.left));
    expect(await (await asking.redeem(code.left ?? "")).json()).toMatchObject({ scope: "admin" });
  });

  test("about an old sign-in gives no lasting access", async ({ expect }) => {
    const provider = new FakeProvider("one", known(stranger({ isAdmin: true }), 1));
    const options = { providers: [provider] };
    const asking = await Asking.begin(undefined, options);
    const browser = browserOf(options);
    const asked = { resource: `${ORIGIN}/admin`, scope: "admin" };
    const { left } = await browser.submit(await asking.visit(asked, browser), {
      button: "Approve",
    });
    const page = await browser.visit(provider.wayBack(left));
    expect([page.status, page.left]).toEqual([403, undefined]);
  });
});

test("a provider that omits the time of the sign-in proves no fresh sign-in", async ({
  expect,
}) => {
  const provider = new FakeProvider("one", known(stranger(), 0));
  const options = { providers: [provider] };
  const browser = browserOf(options);
  const usual = await through(provider, browser);
  expect([usual.status, usual.url.pathname]).toEqual([200, "/account"]);
  const fresh = await through(provider, browser, "/login?fresh=1");
  expect([fresh.status, fresh.url.pathname]).toEqual([403, "/callback/one"]);
  expect(fresh.text).toContain("Sign in anew for this");
  expect(provider.started).toMatchObject([{ fresh: false }, { fresh: true }]);
});

/** One person, who has passed the proxy three times. */
function passes(): { readonly ada: Identity; readonly options: SignInOptions } {
  const ada = stranger();
  const seconds = Math.floor(Date.now() / 1000);
  const access = new FakeAccess({
    first: known(ada, seconds - 3 * 3600),
    second: known(ada, seconds - 2 * 3600),
    latest: known(ada),
  });
  return { ada, options: { providers: [access] } };
}

describe("a proxy in front of the gateway", () => {
  const people = {
    ada: known(stranger()),
    bea: known(stranger({ name: "Bea" })),
    eve: { kind: "refused", reason: "not-allowed", detail: "Not on the list." },
  } as const;
  const access = new FakeAccess(people);
  const options = { providers: [access] };

  test("identifies the user without a page", async ({ expect }) => {
    const browser = browserOf(options);
    const { hops } = await browser.visit("/login", cameThrough("ada"));
    expect(hops[0]).toMatchObject({ status: 303 });
    expect(sessionIn(browser)).toBeDefined();
    const asking = await Asking.begin(WEB_CLIENT, options);
    const page = await browserOf(options).visit(asking.url(), cameThrough("ada"));
    expect(page.text).toContain("Ada");
  });

  test("identifies the user whom it names now, and not an earlier one", async ({ expect }) => {
    const browser = browserOf(options);
    await browser.visit("/login", cameThrough("ada"));
    const asking = await Asking.begin(WEB_CLIENT, options);
    const page = await browser.visit(asking.url(), cameThrough("bea"));
    expect(page.text).toContain("Bea");
    expect(page.text).not.toContain("Ada");
  });

  test("proves a new sign-in when the person has passed it anew", async ({ expect }) => {
    const { ada, options } = passes();
    const browser = browserOf(options);
    const id = await (await records().secrets()).userId(ada.issuer, ada.subject);
    const upkeep = async () => (await records().store.ofUser(id).users.find(id))?.upkeep;
    await browser.visit("/login", cameThrough("first"));
    const [earlier, kept] = [sessionIn(browser)?.value, await upkeep()];
    const old = await browser.visit("/login?fresh=1", cameThrough("first"));
    expect([old.status, old.text]).toEqual([403, expect.stringContaining("Sign in anew")]);
    expect([sessionIn(browser)?.value, await upkeep()]).toEqual([earlier, kept]);
    const { hops } = await browser.visit("/login?fresh=1", cameThrough("latest"));
    expect(hops[0]).toMatchObject({ status: 303 });
    const renewed = await upkeep();
    expect(renewed).not.toBe(kept);
    const session = sessionIn(browser)?.value;
    expect(session).not.toBe(earlier);
    // The same pass opens no other session.
    await browser.visit("/login?fresh=1", cameThrough("latest"));
    expect([sessionIn(browser)?.value, await upkeep()]).toEqual([session, renewed]);
  });

  test("does not prove one by an old pass, which is what the page says", async ({ expect }) => {
    const { options } = passes();
    const browser = browserOf(options);
    const asking = await Asking.begin(undefined, options);
    const url = asking.url({ resource: `${ORIGIN}/admin`, scope: "admin" });
    const approve = async (pass: string) =>
      browser.submit(await browser.visit(url, cameThrough("first")), {
        button: "Approve",
        headers: cameThrough(pass),
      });
    const page = await approve("first");
    expect([page.status, page.text]).toEqual([403, expect.stringContaining("Sign in anew")]);
    expect((await approve("second")).status).toBe(403);
    // The browser has the session of the pass that it came with last.
    const hours =
      (Date.now() - ((await whoIs(browser, options))?.session.authenticatedAt ?? 0)) / 3.6e6;
    expect(Math.round(hours)).toBe(2);
  });

  test("B109: keeps out people who are not admitted", async ({ expect }) => {
    const browser = browserOf(options);
    const page = await browser.visit("/login", cameThrough("eve"));
    expect([page.status, sessionIn(browser)]).toEqual([403, undefined]);
  });

  test("is where a person who has signed out here is still signed in", async ({ expect }) => {
    const browser = browserOf(options);
    await browser.visit("/login", cameThrough("ada"));
    const account = await browser.visit(PATHS.account, cameThrough("ada"));
    const out = await browser.submit(account, {
      action: PATHS.logout,
      headers: cameThrough("ada"),
    });
    expect([out.status, sessionIn(browser)]).toEqual([200, undefined]);
    expect(out.text).toContain("At Cloudflare Access you are still signed in.");
    expect(out.html).toContain(`href="${access.signOutUrl}"`);
  });

  test.for([{}, cameThrough("nobody")])("identifies no user: %j", async (headers, { expect }) => {
    const page = await browserOf(options).visit("/login", headers);
    expect([page.status, page.text]).toEqual([
      403,
      expect.stringContaining("did not come through"),
    ]);
  });
});

test("an e-mail address does not merge the users of two providers", async ({ expect }) => {
  const one = new FakeProvider("one", known({ ...ADA, issuer: "https://one.example" }));
  const two = new FakeProvider("two", known({ ...ADA, issuer: "https://two.example" }));
  const ids = [];
  for (const provider of [one, two]) {
    const options = { providers: [provider] };
    const browser = browserOf(options);
    await through(provider, browser);
    ids.push((await whoIs(browser, options))?.user.id);
  }
  expect(new Set(ids).size).toBe(2);
  expect(ids).not.toContain(undefined);
});
