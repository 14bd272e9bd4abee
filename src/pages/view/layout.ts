/** The frame of every page: head, brand, navigation, the one main part, and the line beside it. */

import { raw } from "hono/html";

import { COPY_SCRIPT } from "./copy-script.ts";
import { type Html, html } from "./html.ts";
import { LIVE_SCRIPT } from "./live-script.ts";
import { ONCE_SCRIPT } from "./once-script.ts";
import { PATHS } from "./paths.ts";
import { STYLE } from "./style.ts";

/**
 * The mark: one way in, through an edge, and on to many. Its stem stands on the line that leads
 * down every page.
 */
const EDGE = "M20 4h-7a5 5 0 0 0-5 5v6a5 5 0 0 0 5 5h7";
const WAY = "M2 12h17";

/** Hidden from screen readers: the name stands beside it. */
const MARK = html`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
  <path class="edge" d="${EDGE}" />
  <path class="way" d="${WAY}" />
</svg>`;

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke-width="3" stroke-linecap="round"><style>path{stroke:#14211f}.w{stroke:#0b6b6b}@media(prefers-color-scheme:dark){path{stroke:#e7efed}.w{stroke:#6fd0c6}}</style><path d="${EDGE}"/><path class="w" d="${WAY}"/></svg>`;

/** A data URL, so that no page requests another file. */
const ICON_URL = `data:image/svg+xml,${encodeURIComponent(ICON)}`;

/** The result of a view; `page` turns it into a response. */
export interface View {
  /** Without the product's name, which is added. */
  readonly title: string;
  /** Has the page's one `h1`. */
  readonly body: Html;
  readonly width: "narrow" | "wide";
  /**
   * `login`: a page on the way to a client, which may have opened it in a window and wait for its
   * return. There is no way out of it but on.
   */
  readonly kind: "login" | "site";
  readonly nav?: Nav;
  /** The page has `copyable` content, and the script that adds a button to it. */
  readonly hasCopyButtons?: true;
  /** The page has a table of calls, and the script that adds new ones to it. */
  readonly isLive?: true;
  /** The page may have sound in it, as `data:` URLs. */
  readonly hasSound?: true;
  /** The page has forms that do something, and the script by which each is sent once. */
  readonly sendsOnce?: true;
  /** The rules of this page alone, beside those of all pages. */
  readonly style?: string;
}

/** The place in a page that is filled while the page is sent; no text can look like it, since texts are escaped. */
export const HOLE = raw("<!-- hole -->");

export interface Nav {
  readonly current: "connect" | "catalog" | "activity" | "account" | "admin" | "logins";
  readonly isAdmin: boolean;
  /** There is no sign-in, and so there are no pages about people. */
  readonly isLocal?: true;
  /** How many things need somebody, on pages of whoever runs the gateway. */
  readonly attention?: number;
}

export function scriptsOf({ sendsOnce, hasCopyButtons, isLive }: View): readonly string[] {
  return [
    ...(sendsOnce === true ? [ONCE_SCRIPT] : []),
    ...(hasCopyButtons === true ? [COPY_SCRIPT] : []),
    ...(isLive === true ? [LIVE_SCRIPT] : []),
  ];
}

export function layout(view: View, nonce: string): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${view.title} · Edgeway</title>
        <link rel="icon" href="${ICON_URL}" />
        <style nonce="${nonce}">
          ${raw(STYLE + (view.style ?? ""))}
        </style>
      </head>
      <body class="${view.width}">
        ${view.nav !== undefined && html`<a class="skip" href="#main">Skip to the content</a>`}
        <header class="top">
          ${brand(view.kind)}${view.nav !== undefined && navigation(view.nav)}
        </header>
        <main id="main" class="line">${view.body}</main>
        ${scriptsOf(view).map(
          (script) =>
            html`<script nonce="${nonce}">
              ${raw(script)};
            </script>`,
        )}
      </body>
    </html>`;
}

function brand(kind: View["kind"]): Html {
  const name = html`${MARK}<span>Edgeway</span>`;
  // During a sign-in, a link would lead out of it.
  if (kind === "login") return html`<p class="brand">${name}</p>`;
  return html`<p class="brand"><a href="${PATHS.connect}">${name}</a></p>`;
}

function navigation({ current, isAdmin, isLocal, attention = 0 }: Nav): Html {
  const hasPeople = isLocal !== true;
  const count = html`${
    attention > 0 &&
    html` <span class="badge warn">${attention}<span class="unseen"> to look after</span></span>`
  }`;
  const link = (key: Nav["current"], label: Html | string): Html => {
    const mark = current === key && html`aria-current="page"`;
    return html`<li><a href="${PATHS[key]}" ${mark}>${label}</a></li>`;
  };
  return html`<nav aria-label="Pages">
    <ul>
      ${link("connect", "Connect")}${link("catalog", "Catalog")} ${link("activity", "Activity")}
      ${hasPeople && link("account", "Account")} ${isAdmin && link("admin", html`Admin${count}`)}
      ${isAdmin && hasPeople && link("logins", "Sign-ins")}
    </ul>
  </nav>`;
}
