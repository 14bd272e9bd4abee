/**
 * Real authorization servers in front of a real MCP server: an application signs in to them by their own pages, by
 * itself and through the gateway.
 */

import { test } from "vitest";

import { Browser, type Page } from "../support/oauth-browser.ts";
import { signIn } from "../support/oauth-client.ts";
import { overHttp } from "../support/oauth-over-http.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { Keychain } from "../support/oauth-sdk.ts";
import { SDK_V2 } from "../support/oauth-sdk-v2.ts";
import { startGateway } from "../support/servers.ts";
import { startRealOidc } from "../support/vendor/real-oidc.ts";
import { textOf } from "./outcome.ts";
import { Application } from "./sign-in-suite.ts";

const MOST_PAGES = 4;

/** Signs in at the provider's pages, and allows what they ask for. @returns the page after them. */
async function pass(browser: Browser, first: Page): Promise<Page> {
  let page = first;
  for (let pages = 0; pages < MOST_PAGES && page.url.origin === first.url.origin; pages++) {
    if (page.left !== undefined) break;
    const isLogin = page.html.includes('name="login"');
    page = await browser.submit(page, isLogin ? { fields: { login: "alice", password: "x" } } : {});
  }
  return page;
}

test.for(SDK_V2)(
  "$name signs in to oidc-provider, and each refresh brings another refresh token",
  async (kind, { expect, onTestFinished }) => {
    const vendor = await startRealOidc();
    onTestFinished(() => vendor.stop());
    const keychain = new Keychain();
    const first = kind.open(new URL(vendor.url), keychain, fetch);
    await expect(first.connect()).rejects.toThrow(kind.Unauthorized);
    const browser = new Browser(vendor.issuer, overHttp);
    const page = await pass(browser, await browser.visit(keychain.redirects[0] ?? ""));
    await first.finish(page.left?.searchParams ?? new URLSearchParams());

    const call = async (): Promise<unknown> => {
      const connection = kind.open(new URL(vendor.url), keychain, fetch);
      await connection.connect();
      const result = await connection.callTool("test_simple_text");
      await connection.close();
      return result["content"];
    };
    const text = [expect.objectContaining({ type: "text" })];
    expect(await call()).toEqual(text);
    const spent = keychain.kept?.refresh_token;
    keychain.spoil("access_token");
    expect(await call()).toEqual(text);
    expect(keychain.kept?.refresh_token).not.toBe(spent);
    expect(vendor.requests.filter((request) => request === "POST /token")).toHaveLength(2);
  },
);

test("U39 of two servers behind one oidc-provider, the one that is not connected never sees a token", async ({
  expect,
  onTestFinished,
}) => {
  const vendor = await startRealOidc(2);
  const [one, other] = vendor.servers;
  const servers = {
    one: { url: one?.url, auth: "oauth" },
    other: { url: other?.url, auth: "oauth" },
  };
  const gateway = await startGateway({ auth: "oauth", servers });
  onTestFinished(async () => {
    await Promise.all([gateway.stop(), vendor.stop()]);
  });
  const [kind] = SDK_V2;
  if (kind === undefined) throw new Error("There is no SDK");
  const application = new Application(gateway.url, kind);
  onTestFinished(() => application.close());
  const connection = await application.connect();
  const browser = new Browser(gateway.url, overHttp, [vendor.issuer]);
  await signIn(browser, OWNER_CODE);
  const connect = async (slug: string): Promise<string> => {
    const page = await browser.visit(`/connect/${slug}`);
    return (await pass(browser, await browser.submit(page, { button: /^Continue to / }))).text;
  };
  const call = async (slug: string): Promise<string> =>
    textOf(await connection.callTool(`${slug}__test_simple_text`));

  expect(await connect("one")).toContain("one is connected");
  expect(await call("one")).not.toContain("/connect/");
  expect(await call("other")).toContain("/connect/other");
  expect([one?.shown.size, other?.shown.size]).toEqual([1, 0]);
  // Each server has a token that is made for it, though it is the same person at the same provider.
  expect(await connect("other")).toContain("other is connected");
  expect(await call("other")).not.toContain("/connect/");
  expect(await call("one")).not.toContain("/connect/");
  const both = new Set([...(one?.shown ?? []), ...(other?.shown ?? [])]);
  expect([one?.shown.size, other?.shown.size, both.size]).toEqual([1, 1, 2]);
});
