/** Pages at which a flow ends: nothing is left to do, or there was nothing. */

import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import { PATHS } from "./paths.ts";

/** @param clients the number of applications that continue to work without the browser. */
export function signedOutView(): View {
  return {
    title: "Signed out",
    body: html`
      <h1>You are signed out</h1>
      <p class="lede">
        The applications that you connected stay connected. You can end that on your account page.
      </p>
      <p class="stop last"><a class="button plain" href="${PATHS.account}">Sign in again</a></p>
    `,
    width: "narrow",
    kind: "site",
  };
}

export interface DoneView {
  /** The completed action, e.g. `Claude Code is connected`. */
  readonly title: string;
  readonly sentence: string | undefined;
}

export function doneView({ title, sentence }: DoneView): View {
  return {
    title,
    body: html`
      <h1>${title}</h1>
      ${sentence !== undefined && html`<p class="lede">${sentence}</p>`}
      <p class="stop last good">You can close this window.</p>
    `,
    width: "narrow",
    kind: "login",
  };
}

export function notFoundView(): View {
  return {
    title: "Not found",
    body: html`
      <h1>There is nothing here</h1>
      <p class="lede">The address may be mistyped, or what it led to is gone.</p>
      <p class="stop last">${link("How to connect an application", PATHS.connect)}</p>
    `,
    width: "narrow",
    kind: "site",
  };
}

function link(label: string, href: string): Html {
  return html`<a class="button plain" href="${href}">${label}</a>`;
}
