/** Real authorization servers in front of a real MCP server: an application signs in to them by their own pages. */

import { test } from "vitest";

import { Browser, type Page } from "../support/oauth-browser.ts";
import { overHttp } from "../support/oauth-over-http.ts";
import { Keychain } from "../support/oauth-sdk.ts";
import { SDK_V2 } from "../support/oauth-sdk-v2.ts";
import { startRealOidc } from "../support/vendor/real-oidc.ts";

const MOST_PAGES = 4;

test.for(SDK_V2)(
  "$name signs in to oidc-provider, and each refresh brings another refresh token",
  async (kind, { expect, onTestFinished }) => {
    const vendor = await startRealOidc();
    onTestFinished(() => vendor.stop());
    const keychain = new Keychain();
    const first = kind.open(new URL(vendor.url), keychain, fetch);
    await expect(first.connect()).rejects.toThrow(kind.Unauthorized);
    const browser = new Browser(vendor.issuer, overHttp);
    let page: Page = await browser.visit(keychain.redirects[0] ?? "");
    for (let pages = 0; pages < MOST_PAGES && page.left === undefined; pages++) {
      const isLogin = page.html.includes('name="login"');
      page = await browser.submit(
        page,
        isLogin ? { fields: { login: "alice", password: "x" } } : {},
      );
    }
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
