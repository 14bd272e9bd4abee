/** Without sign-in nobody connects an account, and forms of other sites are refused all the same. */

import { describe, test } from "vitest";

import { guard } from "../../../src/http/guard.ts";
import type { ConnectContext } from "../../../src/pages/account-context.ts";
import { finishConnect } from "../../../src/pages/account-callback.ts";
import { beginConnect, showConnectAccount } from "../../../src/pages/connect-account.ts";
import { LOCAL_PERSON } from "../../../src/pages/page-visitor.ts";
import { send as workerSend } from "../client.ts";
import { Browser, type Sent } from "../../support/oauth-browser.ts";
import { FakeVaults, SERVERS } from "../../sign-in/fake-vaults.ts";

const ORIGIN = "http://localhost:8787";
const POLICY = { authMode: "none", publicOrigin: undefined, allowedOrigins: new Set<string>() };

function gateway() {
  const vaults = new FakeVaults();
  const accounts = { servers: SERVERS, vaults };
  const context: ConnectContext = { origin: ORIGIN, accounts, auth: undefined };
  const send = async (url: string, sent: Sent = {}): Promise<Response> => {
    const request = new Request(url, { ...sent, redirect: "manual" });
    const refusal = guard(request, { ...POLICY, authMode: "none" });
    if (refusal !== undefined) return refusal;
    const [, room = "", slug = "", last = ""] = new URL(url).pathname.split("/");
    if (room === "oauth") return finishConnect(context, request, last);
    const handler = request.method === "POST" ? beginConnect : showConnectAccount;
    return handler(context, request, slug);
  };
  const vault = vaults.ofPerson(LOCAL_PERSON);
  return { send, vault, browser: new Browser(ORIGIN, send) };
}

describe("U72: without sign-in", () => {
  test("nobody has a page to connect an account, or a form to end one", async ({ expect }) => {
    const get = await workerSend("/connect/s");
    const form = { "Content-Type": "application/x-www-form-urlencoded", Origin: ORIGIN };
    const post = await workerSend("/connect/s/disconnect", {
      ...{ method: "POST", headers: form, body: "csrf=" },
    });
    expect([get.status, post.status]).toEqual([404, 404]);
  });

  test("U23: a form without the token of the browser's cookie begins nothing", async ({
    expect,
  }) => {
    const { send, vault, browser } = gateway();
    const page = await browser.visit("/connect/s");
    const csrf = page.forms[0]?.controls.find(({ name }) => name === "csrf")?.value ?? "";
    const cookie = browser.jar.headerFor(new URL(ORIGIN), "POST", false) ?? "";
    const status = async (headers: Record<string, string>, token: string): Promise<number> => {
      const sent = { "Content-Type": "application/x-www-form-urlencoded", ...headers };
      const body = `csrf=${token}`;
      return (await send(`${ORIGIN}/connect/s`, { method: "POST", headers: sent, body })).status;
    };
    expect(await status({ Cookie: cookie }, "")).toBe(403);
    expect(await status({}, csrf)).toBe(403);
    expect(await status({ Cookie: cookie, Origin: "https://evil.example" }, csrf)).toBe(403);
    const crossSite = { Cookie: cookie, Origin: "null", "Sec-Fetch-Site": "cross-site" };
    expect(await status(crossSite, csrf)).toBe(403);
    expect(vault.begun).toEqual([]);
    const own = { Cookie: cookie, Origin: "null", "Sec-Fetch-Site": "same-origin" };
    expect(await status(own, csrf)).toBe(303);
  });
});
