/**
 * A browser without a screen: it keeps cookies, reads forms, and follows redirects as far as the
 * gateway's own pages go. It runs in workerd and in Node, and sends the headers that Chromium does.
 */

import { CookieJar } from "./oauth-cookies.ts";
import { dataOf, pick, type Submission } from "./oauth-forms.ts";
import { type Form, formsOf, textOf } from "./oauth-html.ts";

export interface Sent {
  /** GET if not said. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: NonNullable<RequestInit["body"]> | null;
}

/** Sends one request, and follows no redirect. */
export type Send = (url: string, request?: Sent) => Promise<Response>;
type SendForBrowser = (url: string, request: Sent) => Promise<Response>;

export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  /** What a person reads on it. */
  readonly text: string;
  readonly forms: readonly Form[];
  /** Where the browser was sent away to, if it was: the page is then the redirect itself. */
  readonly left: URL | undefined;
  /** Every answer on the way to it, the page's own last. */
  readonly hops: readonly Hop[];
}

interface Hop {
  readonly method: string;
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
}

interface Navigation {
  readonly url: URL;
  readonly method: "GET" | "POST";
  readonly body?: string;
  /** The page that it began on; `undefined` when a person typed the address. */
  readonly from?: Page;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

const MAX_HOPS = 12;
const HTML = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

export class Browser {
  readonly origin: string;
  readonly jar = new CookieJar();
  readonly #send: SendForBrowser;
  readonly #origins: readonly string[];

  /** @param others origins whose pages are the browser's business too: an identity provider's. */
  constructor(origin: string, send: SendForBrowser, others: readonly string[] = []) {
    this.origin = origin;
    this.#send = send;
    this.#origins = [origin, ...others];
  }

  /** Goes to an address, as if a person had typed it, or an application had opened it. */
  visit(
    address: string | URL,
    headers: Readonly<Record<string, string | undefined>> = {},
  ): Promise<Page> {
    return this.#navigate({ url: new URL(address, this.origin), method: "GET", headers });
  }

  /** Fills in the one form of a page that is meant, and sends it. */
  submit(page: Page, submission: Submission = {}): Promise<Page> {
    const form = pick(page.forms, submission, `${page.url.href} (${page.status}): ${page.text}`);
    const data = new URLSearchParams(dataOf(form, submission));
    const url = new URL(form.action, page.url);
    const { headers = {} } = submission;
    if (form.method === "post") {
      return this.#navigate({ url, method: "POST", body: `${data}`, from: page, headers });
    }
    url.search = `${data}`;
    return this.#navigate({ url, method: "GET", from: page, headers });
  }

  async #navigate(navigation: Navigation): Promise<Page> {
    const { from } = navigation;
    const hops: Hop[] = [];
    let { url, method, body } = navigation;
    let isCrossSite = false;
    while (hops.length < MAX_HOPS) {
      isCrossSite ||= from !== undefined && from.url.hostname !== url.hostname;
      const cookie = this.jar.headerFor(url, method, isCrossSite);
      const usual = {
        Accept: HTML,
        "Sec-Fetch-Site": siteOf(from, url, isCrossSite),
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Dest": "document",
        "Sec-Fetch-User": "?1",
        ...(method === "POST" ? { Origin: originHeader(from, url) } : {}),
        ...(body === undefined ? {} : { "Content-Type": "application/x-www-form-urlencoded" }),
        ...(cookie === undefined ? {} : { Cookie: cookie }),
        ...navigation.headers,
      };
      const headers = Object.entries(usual).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      );
      const response = await this.#send(url.href, {
        method,
        headers: Object.fromEntries(headers),
        ...(body === undefined ? {} : { body }),
      });
      this.jar.take(url, response.headers.getSetCookie());
      hops.push({ method, url, status: response.status, headers: response.headers });
      const location = response.headers.get("location");
      const isRedirect = [301, 302, 303, 307, 308].includes(response.status) && location !== null;
      const target = isRedirect ? new URL(location, url) : undefined;
      if (target === undefined || !this.#origins.includes(target.origin)) {
        return readPage(url, response, target, hops);
      }
      await response.body?.cancel();
      url = target;
      // Fetch, HTTP-redirect fetch: 307 and 308 alone send the form on.
      if (![307, 308].includes(response.status)) [method, body] = ["GET", undefined];
    }
    throw new Error(`Redirected for ever: ${hops.map(({ url }) => url.href).join(" → ")}`);
  }
}

async function readPage(
  url: URL,
  response: Response,
  left: URL | undefined,
  hops: readonly Hop[],
): Promise<Page> {
  const { status, headers } = response;
  const html = await response.text();
  return { url, status, headers, html, text: textOf(html), forms: formsOf(html), left, hops };
}

function siteOf(from: Page | undefined, url: URL, isCrossSite: boolean): string {
  if (from === undefined) return "none";
  if (isCrossSite) return "cross-site";
  return from.url.origin === url.origin ? "same-origin" : "same-site";
}

/** Fetch, append a request `Origin` header: a page that sends no referrer sends no origin either. */
function originHeader(from: Page | undefined, url: URL): string {
  if (from?.headers.get("referrer-policy") === "no-referrer") return "null";
  return from?.url.origin ?? url.origin;
}
