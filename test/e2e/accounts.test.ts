/**
 * A server that demands a login of each person, behind the gateway: real clients call it, read where to
 * connect an account, and repeat the call when it is connected.
 */

import { afterAll, beforeAll, describe, test } from "vitest";

import type { Browser, Page } from "../support/oauth-browser.ts";
import { signIn } from "../support/oauth-client.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import type { SdkKind } from "../support/oauth-sdk.ts";
import { SDK_V1 } from "../support/oauth-sdk-v1.ts";
import { SDK_V2 } from "../support/oauth-sdk-v2.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { Vendor } from "../support/vendor/vendor.ts";
import { startVendors, type Vendors } from "../support/vendor/vendors.ts";
import { textOf } from "./outcome.ts";
import { Application } from "./sign-in-suite.ts";

let vendors: Vendors;
beforeAll(async () => {
  vendors = await startVendors();
});
afterAll(() => vendors.stop());

const RAN = "ran whoami as alice";

/** @returns the one link of a text. */
function linkIn(text: string): string {
  const [link, ...others] = text.match(/https?:\/\/\S+/g) ?? [];
  if (link === undefined || others.length > 0) throw new Error(`Not one link: ${text}`);
  return link;
}

/** Connects an account as a person does: reads the page, goes to the vendor, and comes back. */
async function connectAccount(browser: Browser, link: string): Promise<Page> {
  const page = await browser.visit(link);
  const away = await browser.submit(page, { button: /^Continue to / });
  if (away.left === undefined) throw new Error(`Not sent away: ${away.status} ${away.text}`);
  // The vendor's person approves at once.
  const approved = await fetch(away.left, { redirect: "manual" });
  return browser.visit(approved.headers.get("location") ?? "");
}

describe.each([...SDK_V1, ...SDK_V2])("an application on the SDK ($name)", (kind: SdkKind) => {
  let gateway: Server;
  let vendor: Vendor;
  beforeAll(async () => {
    vendor = await Vendor.take(vendors.origin);
    const servers = { notes: { url: vendor.url, auth: "oauth", oauth: { label: "Notes" } } };
    gateway = await startGateway({ auth: "oauth", servers });
  });
  afterAll(() => gateway.stop());

  test("U56 calls, reads the link, and calls again when the account is connected", async ({
    expect,
  }) => {
    const application = new Application(gateway.url, kind);
    try {
      const connection = await application.connect();
      const refused = textOf(await connection.callTool("whoami"));
      expect(refused).toContain("Notes needs you to connect your account to continue.");
      const { browser } = application;
      await signIn(browser, OWNER_CODE).catch(() => undefined);
      const done = await connectAccount(browser, linkIn(refused));
      expect(done.text).toContain("connected");
      expect(textOf(await connection.callTool("whoami"))).toBe(RAN);
      expect(await vendor.count("register")).toBe(1);
    } finally {
      await application.close();
    }
  });
});
