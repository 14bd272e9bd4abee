/** `/connect/<slug>`: what a link is worth, and what a form of its page does. */

import { beforeAll, describe, test } from "vitest";

import { AccountGateway, type Guest } from "./account-gateway.ts";
import { FakeVaults, VENDOR } from "./fake-vaults.ts";
import { ORIGIN } from "./gateway.ts";
import { newSignIn } from "./visitor.ts";

const gateway = new AccountGateway(new FakeVaults());
const ASK = "a".repeat(43);
let alice: Guest;
let bob: Guest;

beforeAll(async () => {
  [alice, bob] = [await gateway.arrive(), await gateway.arrive()];
});

/** A form that no page has. */
function post(
  guest: Guest | undefined,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const cookie = guest?.browser.jar.headerFor(new URL(ORIGIN), "POST", false);
  return gateway.send(ORIGIN + path, {
    method: "POST",
    headers: {
      "Content-Type": "application/x-www-form-urlencoded",
      Origin: ORIGIN,
      ...(cookie !== undefined && { Cookie: cookie }),
      ...headers,
    },
    body: new URLSearchParams(fields).toString(),
  });
}

describe("the page of a link", () => {
  test("U22: leads to the sign-in, and back with the link", async ({ expect }) => {
    const response = await gateway.send(`${ORIGIN}/connect/s?e=${ASK}`);
    expect([response.status, response.headers.get("location")]).toEqual([
      ...[303, `/login?to=${encodeURIComponent(`/connect/s?e=${ASK}`)}`],
    ]);
  });

  test("U22: begins nothing, however often it is opened", async ({ expect }) => {
    const guest = await gateway.arrive();
    for (let n = 0; n < 20; n++) {
      const page = await guest.browser.visit("/connect/s");
      expect([page.status, page.left]).toEqual([200, undefined]);
      expect(page.headers.getSetCookie()).toEqual([]);
    }
    const cookie = guest.browser.jar.headerFor(new URL(ORIGIN), "GET", false) ?? "";
    const head = { method: "HEAD", headers: { Cookie: cookie, "Sec-Purpose": "prefetch" } };
    await gateway.send(`${ORIGIN}/connect/s`, head);
    expect(guest.vault.begun).toEqual([]);
    const user = await guest.visitor.shard.users.find(guest.id);
    expect(user?.hasAccounts).toBeUndefined();
  });

  test("U73: has the headers of every page, and lets its form lead to the vendor", async ({
    expect,
  }) => {
    const { headers, html } = await alice.browser.visit("/connect/s");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain(`form-action 'self' ${VENDOR} https:`);
    expect(policy).not.toContain("script-src");
    expect(html).not.toContain("<script");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("U24: of somebody else names nobody, and changes nothing", async ({ expect }) => {
    alice.vault.asks.add(ASK);
    bob.vault.keep("s", { accountId: "bobs" });
    const page = await bob.browser.visit(`/connect/s?e=${ASK}`);
    expect([page.status, page.left]).toEqual([403, undefined]);
    expect(page.text).toContain("This link is not for you");
    expect(page.html).toContain('href="/connect/s"');
    expect(page.forms.map(({ action }) => action)).not.toContain("/connect/s");
    expect(page.html).not.toContain(alice.id);
    const csrf = await bob.visitor.formToken();
    const forced = await post(bob, "/connect/s", { csrf, e: ASK });
    expect([forced.status, forced.headers.get("location")]).toEqual([403, null]);
    expect(bob.vault.kept.get("s")?.accountId).toBe("bobs");
    const own = await alice.browser.visit(`/connect/s?e=${ASK}`);
    expect(own.status).toBe(200);
    expect((await alice.browser.submit(own, { action: "/connect/s" })).left?.origin).toBe(VENDOR);
  });

  test("U13: names for the operator what has to be entered", async ({ expect }) => {
    const guest = await gateway.arrive();
    guest.vault.problem = { code: "not-registered" };
    const page = await guest.browser.visit("/connect/s");
    expect(page.status).toBe(502);
    expect(page.text).toContain(`${ORIGIN}/oauth/upstream/s/callback`);
    expect(page.text).toContain("MCP_SERVERS.s.oauth");
    expect(page.text).toContain("clientId");
  });

  test.for(["own", "nothing", "S"])("is none for the server %s", async (slug, { expect }) => {
    expect((await alice.browser.visit(`/connect/${slug}`)).status).toBe(404);
  });
});

describe("U23: the form", () => {
  test("from elsewhere, without its token or without a session begins nothing", async ({
    expect,
  }) => {
    const guest = await gateway.arrive();
    const csrf = await guest.visitor.formToken();
    const status = async (...[fields, headers]: Record<string, string>[]): Promise<number> =>
      (await post(guest, "/connect/s", fields ?? {}, headers)).status;
    expect(await status({ csrf }, { Origin: "https://evil.example" })).toBe(403);
    expect(await status({ csrf }, { Origin: "null", "Sec-Fetch-Site": "cross-site" })).toBe(403);
    expect(await status({})).toBe(403);
    expect(await status({ csrf: await alice.visitor.formToken() })).toBe(403);
    const nobody = await post(undefined, "/connect/s", { csrf });
    expect(nobody.headers.get("location")).toBe(newSignIn("/connect/s"));
    expect(guest.vault.begun).toEqual([]);
  });

  test("leads to the vendor with a cookie of this attempt", async ({ expect }) => {
    const guest = await gateway.arrive();
    const page = await guest.browser.visit("/connect/s");
    const gone = await guest.browser.submit(page, { action: "/connect/s" });
    expect(gone.left?.href).toMatch(/^https:\/\/login\.vendor\.example\/authorize\?state=/);
    const [cookie = ""] = gone.headers.getSetCookie();
    expect(cookie).toMatch(
      /^__Host-edgeway-connect-\w{6}=[\w-]+; Max-Age=600; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
    );
    expect(guest.vault.begun).toEqual([{ slug: "s", origin: ORIGIN, person: guest.id }]);
    expect((await guest.visitor.shard.users.find(guest.id))?.hasAccounts).toBe(true);
  });

  test("U74: is limited for each person", async ({ expect }) => {
    const limited = new AccountGateway(new FakeVaults(), { connectsPerMinute: 3 });
    const guest = await limited.arrive();
    const page = await guest.browser.visit("/connect/s");
    const statuses: number[] = [];
    for (let n = 0; n < 30; n++) {
      statuses.push((await guest.browser.submit(page, { action: "/connect/s" })).status);
    }
    expect(guest.vault.begun.length).toBe(3);
    expect(statuses.slice(3).every((status) => status === 429)).toBe(true);
    const other = await limited.arrive();
    const theirs = await other.browser.visit("/connect/s");
    expect((await other.browser.submit(theirs, { action: "/connect/s" })).status).toBe(303);
  });

  test("registers the gateway anew after two attempts that nobody came back from", async ({
    expect,
  }) => {
    const guest = await gateway.arrive();
    const csrf = await guest.visitor.formToken();
    await post(guest, "/connect/s", { csrf, anew: "1" });
    expect(guest.vault.begun.at(-1)?.isAnew).toBeUndefined();
    expect((await guest.browser.visit("/connect/s")).text).not.toContain("Register again");
    guest.vault.unanswered = 2;
    expect((await guest.browser.visit("/connect/s")).text).toContain("Register again");
    await post(guest, "/connect/s", { csrf, anew: "1" });
    expect(guest.vault.begun.at(-1)?.isAnew).toBe(true);
  });
});

describe("U65: a key", () => {
  test.for([
    ["of two lines", "a\nb"],
    ["of 10 KiB", "k".repeat(10_240)],
    ["of nothing", ""],
  ] as const)("%s is not kept", async ([, key], { expect }) => {
    const guest = await gateway.arrive();
    const page = await guest.browser.visit("/connect/keyed");
    const answer = await guest.browser.submit(page, { button: "Keep the key", fields: { key } });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("not a key")]);
    expect(guest.vault.kept.size).toBe(0);
  });

  test("that the server refuses is not kept, and not shown again", async ({ expect }) => {
    const guest = await gateway.arrive();
    guest.vault.failure = { code: "key-refused" };
    const page = await guest.browser.visit("/connect/keyed");
    const fields = { key: "sk_live_secret" };
    const answer = await guest.browser.submit(page, { button: "Keep the key", fields });
    expect([answer.status, answer.text]).toEqual([
      ...[400, expect.stringContaining("The server refuses the key.")],
    ]);
    expect(answer.html).not.toContain("sk_live_secret");
  });

  test("that is good is kept, and its end is shown", async ({ expect }) => {
    const guest = await gateway.arrive();
    const page = await guest.browser.visit("/connect/keyed");
    const fields = { key: " sk_live_secret\n" };
    const done = await guest.browser.submit(page, { button: "Keep the key", fields });
    expect(`${done.url.pathname}${done.url.search}`).toBe("/connect/keyed?done=connected");
    expect(done.text).toContain("…cret");
    expect(done.html).not.toContain("sk_live");
  });
});

describe("U66: an account that all share", () => {
  test("is not for people who are no administrators", async ({ expect }) => {
    const page = await alice.browser.visit("/connect/all");
    expect([page.status, page.text]).toEqual([403, expect.stringContaining("administrator")]);
    const csrf = await alice.visitor.formToken();
    expect((await post(alice, "/connect/all", { csrf })).status).toBe(403);
    expect((await post(alice, "/connect/all/disconnect", { csrf })).status).toBe(403);
    expect(gateway.vaults.shared.begun).toEqual([]);
  });

  test("is connected by an administrator who has just signed in", async ({ expect }) => {
    const stale = await gateway.arrive({ isAdmin: true, authenticatedAt: 0 });
    const csrf = await stale.visitor.formToken();
    const again = await post(stale, "/connect/all", { csrf });
    expect(again.headers.get("location")).toBe(newSignIn("/connect/all"));
    expect(gateway.vaults.shared.begun).toEqual([]);

    const root = await gateway.arrive({ isAdmin: true });
    const page = await root.browser.visit("/connect/all?done=signed-in-again");
    expect(page.text).toContain("Nothing was done yet");
    const gone = await root.browser.submit(page, { button: /^Continue/ });
    expect(gone.left?.origin).toBe(VENDOR);
    expect(gateway.vaults.shared.begun).toEqual([{ slug: "all", origin: ORIGIN, person: root.id }]);
  });
});

describe("U61: disconnecting", () => {
  test("U76: takes a form with its token, ends one account, and is in the audit", async ({
    expect,
  }) => {
    const guest = await gateway.arrive();
    const { accountId } = guest.vault.keep("s");
    guest.vault.keep("other");
    expect((await post(guest, "/connect/s/disconnect", {})).status).toBe(403);
    expect(guest.vault.kept.size).toBe(2);
    const page = await guest.browser.visit("/connect/s");
    const done = await guest.browser.submit(page, { button: "Disconnect" });
    expect(done.text).toContain("The account is disconnected.");
    expect([...guest.vault.kept.keys()]).toEqual(["other"]);
    const [entry] = await guest.visitor.shard.audit.list(guest.id, 1);
    expect(entry).toMatchObject({
      event: "account_disconnected",
      detail: { server: "s", account: accountId, issuer: "login.vendor.example" },
    });
  });

  test("leads back to the page that it came from, and to no other", async ({ expect }) => {
    const guest = await gateway.arrive();
    const csrf = await guest.visitor.formToken();
    const to = async (back: string): Promise<string | null> =>
      (await post(guest, "/connect/s/disconnect", { csrf, back })).headers.get("location");
    expect(await to("account")).toBe("/account?done=account-disconnected");
    expect(await to("https://evil.example")).toBe("/connect/s?done=account-disconnected");
  });

  test("ends an account at a server that is not configured any more", async ({ expect }) => {
    const guest = await gateway.arrive();
    const other = await gateway.arrive();
    guest.vault.keep("former");
    const users = guest.visitor.shard.users;
    await users.change(guest.id, { hasAccounts: true });
    expect((await guest.browser.visit("/account")).text).toContain("Not served any more");
    const send = async (from: Guest): Promise<readonly [number, string | null]> => {
      const fields = { csrf: await from.visitor.formToken(), back: "account" };
      const { status, headers } = await post(from, "/connect/former/disconnect", fields);
      return [status, headers.get("location")];
    };
    expect((await post(guest, "/connect/former/disconnect", {})).status).toBe(403);
    expect(await send(other)).toEqual([404, null]);
    expect([...guest.vault.kept.keys()]).toEqual(["former"]);
    expect(await send(guest)).toEqual([303, "/account?done=account-disconnected"]);
    expect(guest.vault.kept.size).toBe(0);
    const [entry] = await guest.visitor.shard.audit.list(guest.id, 1);
    expect([entry?.event, entry?.detail.server]).toEqual(["account_disconnected", "former"]);
  });
});

describe("U36: sealing all accounts anew", () => {
  test("goes over everybody's vaults and their issuers, and says how many it were", async ({
    expect,
  }) => {
    const root = await gateway.arrive({ isAdmin: true });
    const guest = await gateway.arrive();
    await guest.visitor.shard.users.change(guest.id, { hasAccounts: true });
    guest.vault.old = 2;
    gateway.vaults.shared.old = 1;
    const page = await root.browser.visit("/admin");
    const done = await root.browser.submit(page, { button: "Seal all accounts anew" });
    // One more for what the gateway is registered as.
    expect(done.text).toContain("It was not so of 4.");
    expect(gateway.vaults.issuers).toEqual([VENDOR]);
    const [entry] = await root.visitor.shard.audit.list(root.id, 1);
    expect(entry?.event).toBe("accounts_sealed");
  });

  test("is not for people who are no administrators", async ({ expect }) => {
    const guest = await gateway.arrive();
    const csrf = await guest.visitor.formToken();
    expect((await post(guest, "/admin/accounts/seal", { csrf })).status).toBe(403);
  });
});
