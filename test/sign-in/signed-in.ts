/** Who is signed in at a browser, and how one gets there through a provider. */

import { type SignedIn, signedIn } from "../../src/auth/sign-in/browser.ts";
import type { Browser, Page } from "../support/oauth-browser.ts";
import type { Cookie } from "../support/oauth-cookies.ts";
import type { FakeProvider } from "./fake-provider.ts";
import { ORIGIN } from "./gateway.ts";
import { signInContext, type SignInOptions } from "./sign-in-gateway.ts";
import { SESSION_COOKIE } from "./visitor.ts";

export function sessionIn({ jar }: Browser): Cookie | undefined {
  return jar.all.find(({ name }) => name === SESSION_COOKIE);
}

/** Who the gateway takes a browser for. */
export async function whoIs(
  { jar }: Browser,
  options: SignInOptions = {},
): Promise<SignedIn | undefined> {
  const cookie = jar.headerFor(new URL(ORIGIN), "GET", false) ?? "";
  const request = new Request(`${ORIGIN}/account`, { headers: { Cookie: cookie } });
  return signedIn(signInContext(options), request);
}

/** Signs in through a provider. @returns where the browser is in the end. */
export async function through(
  provider: FakeProvider,
  browser: Browser,
  path = "/login",
): Promise<Page> {
  const first = await browser.visit(path);
  // A new sign-in begins at a page of the gateway, as one with several providers does.
  const button = `Continue with ${provider.name}`;
  const { left } = first.left === undefined ? await browser.submit(first, { button }) : first;
  return browser.visit(provider.wayBack(left));
}
