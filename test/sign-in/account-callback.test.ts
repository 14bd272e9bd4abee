/** The browser comes back from an authorization server: session, cookie and `state` have to be of one attempt. */

import { describe, test, vi } from "vitest";

import { accountServers } from "../../src/pages/connected-accounts.ts";
import { PATHS } from "../../src/pages/view/paths.ts";
import type { Page } from "../support/oauth-browser.ts";
import { AccountGateway, type Guest } from "./account-gateway.ts";
import { FakeVaults, SERVERS } from "./fake-vaults.ts";
import { ORIGIN } from "./gateway.ts";
import { Person } from "./people.ts";
import { SESSION_COOKIE } from "./visitor.ts";

const gateway = new AccountGateway(new FakeVaults());

/** Begins in this browser. @returns the `state` that the vendor was given. */
async function begin({ browser }: Guest, slug = "s"): Promise<string> {
  const page = await browser.visit(`/connect/${slug}`);
  const { left } = await browser.submit(page, { action: `/connect/${slug}` });
  return left?.searchParams.get("state") ?? "";
}

function comeBack({ browser }: Guest, query: string, slug = "s"): Promise<Page> {
  return browser.visit(`/oauth/upstream/${slug}/callback?${query}`);
}

describe("the callback", () => {
  test("leads to a page without code and state, which says what is missing", async ({ expect }) => {
    const alice = await gateway.arrive();
    const done = await comeBack(alice, `code=secret-code&state=${await begin(alice)}`);
    expect(done.hops.map(({ status }) => status)).toEqual([303, 200]);
    expect(`${done.url.pathname}${done.url.search}`).toBe("/connect/s?done=connected");
    expect(done.text).toContain("You can close this window");
    expect(done.text).toMatch(/Not allowed ?write/);
    expect(done.html).not.toContain("secret-code");
    const [entry] = await alice.visitor.shard.audit.list(alice.id, 1);
    expect(entry).toMatchObject({
      event: "account_connected",
      detail: { server: "s", issuer: "login.vendor.example" },
    });
    expect(JSON.stringify(entry)).not.toContain("secret-code");
  });

  test("U25: in another person's browser connects neither", async ({ expect }) => {
    const [alice, bob] = [await gateway.arrive(), await gateway.arrive()];
    const state = await begin(alice);
    const page = await comeBack(bob, `code=c&state=${state}`);
    expect([page.status, page.text]).toEqual([400, expect.stringContaining("does not fit")]);
    expect([alice.vault.kept.size, bob.vault.kept.size]).toEqual([0, 0]);
    // The same person in a browser that did not begin it.
    const elsewhere = await gateway.again(alice);
    expect((await comeBack(elsewhere, `code=c&state=${state}`)).status).toBe(400);
    expect(alice.vault.kept.size).toBe(0);
    expect((await comeBack(alice, `code=c&state=${state}`)).status).toBe(200);
  });

  test("U26: is refused when somebody else has signed in meanwhile", async ({ expect }) => {
    const [alice, carol] = [await gateway.arrive(), await gateway.arrive()];
    const state = await begin(alice);
    const session = `${SESSION_COOKIE}=${carol.visitor.secret}; Path=/; Secure; HttpOnly`;
    alice.browser.jar.take(new URL(gateway.origin), [session]);
    expect((await comeBack(alice, `code=c&state=${state}`)).status).toBe(400);
    expect([alice.vault.kept.size, carol.vault.kept.size]).toEqual([0, 0]);
    alice.browser.jar.take(new URL(gateway.origin), [
      `${SESSION_COOKIE}=; Path=/; Secure; Max-Age=0`,
    ]);
    expect((await comeBack(alice, `code=c&state=${state}`)).status).toBe(400);
    expect(alice.vault.finished).toEqual([]);
  });

  test("U27: with another state, or at another server, leaves the attempt alone", async ({
    expect,
  }) => {
    const alice = await gateway.arrive();
    const state = await begin(alice);
    for (const [query, slug] of [
      ["code=c&state=unknown", "s"],
      ["code=c", "s"],
      ["code=c&state=", "s"],
      [`code=c&state=${state}`, "other"],
    ] as const) {
      expect((await comeBack(alice, query, slug)).status).toBe(400);
    }
    expect(alice.vault.kept.size).toBe(0);
    expect((await comeBack(alice, `code=c&state=${state}`)).status).toBe(200);
    expect(alice.vault.kept.size).toBe(1);
  });

  test("U29: with a parameter twice, an empty iss or too much of it asks no vault", async ({
    expect,
  }) => {
    const alice = await gateway.arrive();
    const state = await begin(alice);
    for (const query of [
      `code=c&code=d&state=${state}`,
      `code=c&state=${state}&state=${state}`,
      `code=c&state=${state}&iss=https://a&iss=https://b`,
      `error=a&error=b&state=${state}`,
      `code=c&state=${state}&iss=`,
      `code=${"c".repeat(9000)}&state=${state}`,
    ]) {
      expect((await comeBack(alice, query)).status).toBe(400);
    }
    expect(alice.vault.finished).toEqual([]);
    expect((await comeBack(alice, `code=c&state=${state}`)).status).toBe(200);
  });

  test("U30: shows nothing of what came, when it was declined or came from elsewhere", async ({
    expect,
  }) => {
    const alice = await gateway.arrive();
    const state = await begin(alice);
    const sent = `error=access_denied&error_description=%3Cscript%3Ealert(1)%3C/script%3E&state=${state}`;
    alice.vault.failure = { code: "declined" };
    const declined = await comeBack(alice, sent);
    expect([declined.status, declined.text]).toEqual([
      403,
      expect.stringContaining("You declined"),
    ]);
    alice.vault.failure = { code: "iss-mismatch" };
    const mismatch = await comeBack(alice, `${sent}&iss=https://evil.example`);
    expect(mismatch.text).toContain("The answer came from elsewhere");
    for (const { html } of [declined, mismatch]) {
      expect(html).not.toContain("alert(1)");
      expect(html).not.toContain("evil.example");
      expect(html).not.toContain(state);
    }
    const [entry] = await alice.visitor.shard.audit.list(alice.id, 1);
    expect([entry?.event, entry?.detail.reason]).toEqual(["account_not_connected", "iss-mismatch"]);
  });

  test("U28, U31: comes back twice, and in reverse order", async ({ expect }) => {
    const alice = await gateway.arrive();
    const [first, second] = [await begin(alice), await begin(alice)];
    for (const state of [second, first, first]) {
      const page = await comeBack(alice, `code=c&state=${state}`);
      expect([page.status, page.text]).toEqual([200, expect.stringContaining("is connected")]);
    }
    expect(alice.vault.kept.size).toBe(1);
  });

  test("is none for a server that takes keys", async ({ expect }) => {
    const alice = await gateway.arrive();
    expect((await comeBack(alice, "code=c&state=s", "keyed")).status).toBe(404);
  });
});

describe("the account page", () => {
  test("lists the person's own accounts, with what is wrong with them", async ({ expect }) => {
    const alice = await gateway.arrive();
    const before = await alice.browser.visit("/account");
    expect(before.text).toContain("Server S Not connected");
    await comeBack(alice, `code=c&state=${await begin(alice)}`);
    alice.vault.keep("other", { state: "needs-connect", trouble: "ended" });
    const { text } = await alice.browser.visit("/account");
    expect(text).toContain("Server S Connected");
    expect(text).toContain("The sign-in service has ended the access.");
    expect(text).toContain("An account at a server was connected · s");
  });

  test("is there without the accounts while their vault does not answer", async ({ expect }) => {
    const alice = await gateway.arrive();
    await comeBack(alice, `code=c&state=${await begin(alice)}`);
    const { id: key } = await alice.visitor.person.key({ path: "/mcp" });
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    alice.vault.isSilent = true;
    const page = await alice.browser.visit("/account");
    expect(logged).toHaveBeenCalledWith(expect.objectContaining({ event: "unexpected_error" }));
    logged.mockRestore();
    expect(page.status).toBe(200);
    expect(page.text).toContain("What you have connected cannot be shown at the moment");
    expect(page.text).not.toContain("Not connected");
    const revoked = await alice.browser.submit(page, {
      action: PATHS.revokeKey,
      fields: { id: key },
    });
    expect(revoked.text).toContain("The key works no more.");
    alice.vault.isSilent = false;
    const { text } = await alice.browser.visit("/account");
    expect(text).toContain("Server S Connected");
    expect(text).not.toContain("cannot be shown");
  });
});

describe("the admin page", () => {
  test("says who is connected to what, and to whom the shared account belongs", async ({
    expect,
  }) => {
    const [root, alice] = [await gateway.arrive({ isAdmin: true }), await gateway.arrive()];
    await alice.visitor.shard.users.change(alice.id, { name: "Alice of the admin page" });
    await begin(alice);
    alice.vault.keep("s");
    gateway.vaults.shared.keep("all", { connectedBy: alice.id });
    const { text } = await root.browser.visit("/admin");
    expect(text).toContain("Alice of the admin page Connected");
    expect(text).toContain("Connected by Alice of the admin page");
    expect(text).toContain("https://gw.example.com/oauth/upstream/s/callback");
  });

  test("knows the accounts of people who signed in long ago, behind all the others", async ({
    expect,
  }) => {
    const [root, alice] = [await gateway.arrive({ isAdmin: true }), await gateway.arrive()];
    const change = { name: "Alice of long ago", seenAt: 1, hasAccounts: true } as const;
    await alice.visitor.shard.users.change(alice.id, change);
    alice.vault.keep("s");
    await Promise.all(Array.from({ length: 500 }, () => Person.signIn()));
    expect((await root.browser.visit("/admin")).text).toContain("Alice of long ago Connected");
  });

  test("is there while vaults do not answer, and counts their people", async ({ expect }) => {
    const vaults = new FakeVaults();
    const own = new AccountGateway(vaults);
    const [root, alice] = [await own.arrive({ isAdmin: true }), await own.arrive()];
    await alice.visitor.shard.users.change(alice.id, { hasAccounts: true });
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    alice.vault.isSilent = true;
    vaults.shared.isSilent = true;
    const page = await root.browser.visit("/admin");
    expect(logged).toHaveBeenCalledWith(expect.objectContaining({ event: "unexpected_error" }));
    logged.mockRestore();
    expect(page.status).toBe(200);
    expect(page.text).toMatch(/Not known of 1 more person, who may have one\./);
    expect(page.text).toMatch(/all Not known .*It cannot be shown at the moment/);
    expect(page.forms.map(({ action }) => action)).toContain(PATHS.disableUser);
  });

  test("does not know the accounts of whoever's vault did not answer", async ({ expect }) => {
    const vaults = new FakeVaults();
    const holders = ["u_one", "u_two", "u_three"].map((id) => {
      vaults.ofPerson(id).keep("s");
      return { id, label: id, hasAccounts: true as const };
    });
    vaults.ofPerson("u_two").isSilent = true;
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const context = { origin: ORIGIN, accounts: { servers: SERVERS, vaults }, auth: undefined };
    const [row] = await accountServers(context, holders);
    logged.mockRestore();
    expect(row?.people.map(({ label }) => label)).toEqual(["u_one", "u_three"]);
    expect(row?.notKnown).toBe(1);
  });

  test("asks no more vaults than one request can, and knows how many it did not ask", async ({
    expect,
  }) => {
    const vaults = new FakeVaults();
    const holders = Array.from({ length: 503 }, (_, n) => {
      const id = `u_${n}`;
      vaults.ofPerson(id).keep("s");
      return { id, label: id, hasAccounts: true as const };
    });
    const context = { origin: ORIGIN, accounts: { servers: SERVERS, vaults }, auth: undefined };
    const [row] = await accountServers(context, [{ id: "u_new", label: "New" }, ...holders]);
    expect([row?.people.length, row?.notKnown]).toEqual([500, 3]);
    expect(row?.people.at(-1)?.label).toBe("u_499");
  });
});
