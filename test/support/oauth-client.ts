/**
 * An OAuth client with its user, for black-box tests: from nothing to a token in one call. It runs
 * in workerd and in Node, and knows of the gateway what the RFCs and its pages say.
 */

import { Browser, type Page } from "./oauth-browser.ts";
import {
  authorizeUrl,
  type Gateway,
  newPkce,
  newSecret,
  type Parameters,
  REDIRECT_URI,
  register,
  type RegisteredClient,
  requestToken,
  type Tokens,
  tokensIn,
} from "./oauth-requests.ts";

const MAX_PAGES = 6;

/** Signs the owner in to the pages. @returns the page behind the sign-in. */
export async function signIn(browser: Browser, code: string): Promise<Page> {
  const page = await browser.submit(await browser.visit("/login"), { fields: { code } });
  if (page.status !== 200) throw new Error(`Not signed in: ${page.status} ${page.text}`);
  return page;
}

export interface Approval {
  /** The owner's code, for where it is asked for. */
  readonly code: string;
  /** The optional scopes to leave ticked; all that are, if not said. */
  readonly scopes?: readonly string[];
}

/**
 * Does what is asked for on the way from an authorization request to the client: approves, and
 * signs in.
 *
 * @returns where the browser was sent in the end. @throws Error with the page that it got stuck at.
 */
export async function approve(
  browser: Browser,
  url: string | URL,
  { code, scopes }: Approval,
): Promise<URL> {
  let page = await browser.visit(url);
  let hasGivenCode = false;
  for (let pages = 0; pages < MAX_PAGES && page.left === undefined; pages++) {
    const isConsent = page.forms.some(({ buttons }) =>
      buttons.some(({ value }) => value === "approve"),
    );
    if (isConsent) {
      const fields = scopes === undefined ? {} : { fields: { scope: scopes } };
      page = await browser.submit(page, { button: "Approve", ...fields });
    } else if (hasGivenCode) {
      break;
    } else {
      page = await browser.submit(page, { fields: { code } });
      hasGivenCode = true;
    }
  }
  if (page.left === undefined) throw new Error(`Stuck at ${page.url.href}: ${page.text}`);
  return page.left;
}

export interface GrantOptions extends Approval {
  /** A client that is registered already; a new public one, if not said. */
  readonly client?: RegisteredClient;
  readonly redirectUri?: string;
  readonly scope?: string;
  readonly resource?: string;
  /** Somebody's who may be signed in already; a new one, if not said. */
  readonly browser?: Browser;
}

export interface Granted {
  readonly client: RegisteredClient;
  readonly browser: Browser;
  readonly tokens: Tokens;
}

/** A code that has not been redeemed, with what is needed to redeem it. */
interface GrantedCode {
  readonly client: RegisteredClient;
  readonly browser: Browser;
  readonly code: string;
  /** The parameters of the token request. */
  readonly exchange: Parameters;
}

/** From nothing to a code: registers, asks, approves, signs in. */
export async function obtainCode(gateway: Gateway, options: GrantOptions): Promise<GrantedCode> {
  const { redirectUri = REDIRECT_URI, scope, resource } = options;
  const client = options.client ?? (await register(gateway));
  const browser = options.browser ?? new Browser(gateway.origin, gateway.send);
  const { verifier, challenge } = await newPkce();
  const state = newSecret();
  const url = authorizeUrl(gateway, {
    client_id: client.client_id,
    redirect_uri: redirectUri,
    code_challenge: challenge,
    ...{ state, scope, resource },
  });
  const answer = (await approve(browser, url, options)).searchParams;
  const code = answer.get("code");
  // RFC 9207: whose answer it is.
  const isOurs = answer.get("state") === state && answer.get("iss") === gateway.origin;
  if (code === null || !isOurs) throw new Error(`No code: ${answer.toString()}`);
  const exchange = {
    grant_type: "authorization_code",
    client_id: client.client_id,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    ...{ code, resource },
  };
  return { client, browser, code, exchange };
}

/** From nothing to tokens. */
export async function obtainToken(gateway: Gateway, options: GrantOptions): Promise<Granted> {
  const { client, browser, exchange } = await obtainCode(gateway, options);
  return { client, browser, tokens: await tokensIn(await requestToken(gateway, exchange)) };
}
