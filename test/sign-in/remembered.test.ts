/** Approvals that stand, those that do not, and what an authorization leaves as it is. */

import { describe, test } from "vitest";

import { OwnerProvider } from "../../src/auth/identity/owner.ts";
import { initializeMessage, post } from "../integration/client.ts";
import type { Browser } from "../support/oauth-browser.ts";
import { signIn } from "../support/oauth-client.ts";
import { PUBLIC_CLIENT, REDIRECT_URI } from "../support/oauth-requests.ts";
import { Asking, ownersBrowser, WEB_CLIENT, WEB_REDIRECT } from "./asking.ts";
import { newHost, serveAt, serveJsonAt } from "./canary.ts";
import { passTime } from "./clock.ts";
import { FakeProvider, stranger } from "./fake-provider.ts";
import { ORIGIN } from "./gateway.ts";
import { as, records } from "./people.ts";
import { browserOf, OWNER, type SignInOptions } from "./sign-in-gateway.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** An application that the owner has approved in this browser. */
async function approved(
  options: SignInOptions = {},
  metadata: Readonly<Record<string, unknown>> = WEB_CLIENT,
): Promise<{ asking: Asking; browser: Browser }> {
  const asking = await Asking.begin(metadata, options);
  const browser = await ownersBrowser(options);
  await browser.submit(await asking.visit({}, browser), { button: "Approve" });
  return { asking, browser };
}

describe("consent that was remembered", () => {
  test("B48: does not count for another application, and no provider is called meanwhile", async ({
    expect,
  }) => {
    const provider = new FakeProvider("one");
    const { browser } = await approved({ providers: [OWNER, provider] });
    const other = await Asking.begin(WEB_CLIENT);
    const page = await other.visit({}, browser);
    expect([page.status, page.left, provider.started]).toEqual([200, undefined, []]);
  });

  test("B49: is not asked for again for the same access to a server", async ({ expect }) => {
    const { asking, browser } = await approved();
    const page = await asking.visit({}, browser);
    expect(page.status).toBe(303);
    expect(`${page.left?.origin}${page.left?.pathname}`).toBe(WEB_REDIRECT);
    expect((await asking.redeem(page.left ?? "")).status).toBe(200);
  });

  test("B49: is not asked for again for a part of the approved access", async ({ expect }) => {
    const { asking, browser } = await approved();
    const page = await asking.visit({ scope: "mcp:alpha" }, browser);
    expect((await asking.tokens(page)).scope).toBe("mcp:alpha");
  });

  test.for([REDIRECT_URI, "https://localhost/cb", "https://127.0.0.1/cb"])(
    "B49: is always asked for again for a program of this machine: %s",
    async (redirectUri, { expect }) => {
      const metadata = { ...PUBLIC_CLIENT, redirect_uris: [redirectUri] };
      const { asking, browser } = await approved({}, metadata);
      const page = await asking.visit({}, browser);
      expect([page.status, page.left]).toEqual([200, undefined]);
      expect(page.text).not.toContain("has changed");
    },
  );

  test("B49: is listed only if it avoids a question", async ({ expect }) => {
    const { browser } = await approved({}, { ...WEB_CLIENT, client_name: "On the web" });
    const local = { client_name: "On this machine", redirect_uris: [REDIRECT_URI] };
    const asking = await Asking.begin(local);
    await browser.submit(await asking.visit({}, browser), { button: "Approve" });
    const [, list = ""] =
      /Remembered approvals(.*)API keys/.exec((await browser.visit("/account")).text) ?? [];
    expect(list).toContain("On the web");
    expect(list).not.toContain("On this machine");
  });

  test.for([
    ["more", { resource: `${ORIGIN}/mcp/alpha` }],
    ["a question", { prompt: "consent" }],
    ["a sign-in", { prompt: "login" }],
    ["another account", { prompt: "select_account" }],
  ] as const)("B49: is asked for again when %s is requested", async ([, changes], { expect }) => {
    const { asking, browser } = await approved();
    const page = await asking.visit(changes, browser);
    expect([page.status, page.left]).toEqual([200, undefined]);
  });

  test("is asked for again when the owner's code has changed, because another person may have approved", async ({
    expect,
  }) => {
    const { asking, browser } = await approved();
    expect((await asking.visit({}, browser)).status).toBe(303);
    const code = "k7xd-2mfq-w9sh-c4pb-t6vz-0ynr-e3ja-u8gl";
    const deps = {
      enrolment: () => ({ codeHash: () => Promise.resolve(undefined) }),
      codeMac: async (hash: string) => (await records().secrets()).ownerCodeMac(hash),
    };
    const replaced = new OwnerProvider({ name: "owner", label: "Owner code", code }, deps);
    const owners = browserOf({ providers: [replaced] });
    await signIn(owners, code);
    const page = await asking.visit({}, owners);
    expect([page.status, page.left]).toEqual([200, undefined]);
    // What is approved from now on is remembered again.
    await owners.submit(page, { button: "Approve" });
    expect((await asking.visit({}, owners)).status).toBe(303);
    const again = browserOf({ providers: [replaced] });
    await signIn(again, code);
    expect((await asking.visit({}, again)).status).toBe(303);
  });

  test("B49: is asked for again for more access, which is marked", async ({ expect }) => {
    const asking = await Asking.begin(WEB_CLIENT);
    const browser = await ownersBrowser();
    await browser.submit(await asking.visit({ scope: "mcp:alpha" }, browser), {
      button: "Approve",
    });
    const page = await asking.visit({ scope: "mcp:alpha mcp:beta" }, browser);
    expect([page.status, page.left]).toEqual([200, undefined]);
    expect(page.text).toMatch(/Use beta New/);
    expect(page.text).not.toMatch(/Use alpha New/);
  });

  test.for<Readonly<Record<string, string>>>([
    { "Sec-Fetch-Dest": "iframe" },
    { "Sec-Fetch-Dest": "image", "Sec-Fetch-Mode": "no-cors" },
    { "Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "cors" },
  ])(
    "B49: is asked for again when no person would see the answer: %j",
    async (headers, { expect }) => {
      const { asking, browser } = await approved();
      const page = await browser.visit(asking.url(), headers);
      expect([page.status, page.left]).toEqual([200, undefined]);
    },
  );

  test("B49: is asked for again when the user is no longer signed in", async ({ expect }) => {
    const { asking, browser } = await approved();
    passTime(2 * HOUR + 1);
    const page = await asking.visit({}, browser);
    expect([page.status, page.left]).toEqual([200, undefined]);
    expect(page.text).not.toContain("Not you?");
  });

  test("B58: is asked for again when a document has changed, and the page shows the change", async ({
    expect,
  }) => {
    const url = `https://${newHost()}/client.json`;
    const document = {
      client_id: url,
      client_name: "Earlier name",
      redirect_uris: [WEB_REDIRECT],
      token_endpoint_auth_method: "none",
    };
    await serveJsonAt(url, document);
    const { asking, browser } = await approved({}, document);
    expect((await asking.visit({}, browser)).status).toBe(303);
    for (const change of [
      { client_name: "Other name" },
      { client_name: "Other name", redirect_uris: [WEB_REDIRECT, "https://new.client.example/cb"] },
    ]) {
      await serveJsonAt(url, { ...document, ...change });
      passTime(HOUR + 1);
      const page = await asking.visit({}, browser);
      expect([page.status, page.left]).toEqual([200, undefined]);
      expect(page.text).toContain("has changed since you approved it");
      await browser.submit(page, { button: "Approve" });
      expect((await asking.visit({}, browser)).status).toBe(303);
    }
  });

  test("is not given to a document that changes while the page is open", async ({ expect }) => {
    const url = `https://${newHost()}/client.json`;
    const document = { client_id: url, client_name: "A", redirect_uris: [WEB_REDIRECT] };
    const serve = (change: object) =>
      serveAt(url, {
        body: JSON.stringify({ ...document, ...change }),
        headers: { "Cache-Control": "no-store" },
      });
    await serve({});
    const asking = await Asking.begin(document);
    const browser = await ownersBrowser();
    const page = await asking.visit({}, browser);
    expect(page.text).toContain(new URL(url).host);
    await serve({ client_name: "B" });
    passTime(6 * MINUTE);
    const answered = await browser.submit(page, { button: "Approve" });
    expect([answered.status, answered.left]).toEqual([400, undefined]);
    expect(answered.text).toContain("The application has changed");
  });
});

test("B50: an authorization request that is started ends no access", async ({ expect }) => {
  const asking = await Asking.begin();
  const browser = await ownersBrowser();
  const resource = `${ORIGIN}/mcp/alpha`;
  const approve = async () =>
    browser.submit(await asking.visit({ resource }, browser), { button: "Approve" });
  const { access_token } = await asking.tokens(await approve());
  const status = async () =>
    (await post(`${ORIGIN}/mcp/alpha`, initializeMessage(), as(access_token))).status;
  const page = await approve();
  expect(page.left?.searchParams.has("code")).toBe(true);
  expect(await status()).toBe(200);
  expect((await asking.redeem(page.left ?? "")).status).toBe(200);
});

describe("the link Not you?", () => {
  test("signs out, asks for consent again, and makes the provider ask who the person is", async ({
    expect,
  }) => {
    const provider = new FakeProvider("one");
    const options = { providers: [provider] };
    const asking = await Asking.begin(WEB_CLIENT, options);
    const browser = browserOf(options);
    const login = await browser.visit("/login");
    await browser.visit(provider.wayBack(login.left));
    const page = await asking.visit({}, browser);
    expect(page.text).toContain("Ada");
    const again = await browser.submit(page, { button: /^Not you/ });
    expect([again.status, again.text]).toEqual([200, expect.not.stringContaining("Ada")]);
    expect((await browser.visit("/login")).left?.host).toBe("one.idp.example");
    provider.result = { kind: "identity", identity: stranger({ name: "Bea" }), authTime: 1 };
    const away = await browser.submit(again, { button: "Approve" });
    expect(provider.started.at(-1)).toMatchObject({ fresh: true });
    const done = await browser.visit(provider.wayBack(away.left));
    expect((await asking.redeem(done.left ?? "")).status).toBe(200);
    expect((await asking.visit({ prompt: "consent" }, browser)).text).toContain("Bea");
  });
});
