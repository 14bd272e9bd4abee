/** What a person does with the link to connect an account, at a vendor that approves at once. */

import type { Browser, Page } from "../support/oauth-browser.ts";

/** @returns the one link of a text. */
export function linkIn(text: string): string {
  const [link, ...others] = text.match(/https?:\/\/\S+/g) ?? [];
  if (link === undefined || others.length > 0) throw new Error(`Not one link: ${text}`);
  return link;
}

/** Reads the page, goes to the vendor, and comes back. */
export async function connectAccount(browser: Browser, link: string): Promise<Page> {
  const page = await browser.visit(link);
  const away = await browser.submit(page, { button: /^Continue to |^Connect another account$/ });
  if (away.left === undefined) throw new Error(`Not sent away: ${away.status} ${away.text}`);
  const approved = await fetch(away.left, { redirect: "manual" });
  return browser.visit(approved.headers.get("location") ?? "");
}
