/** Pages at which a way ends: it failed, nothing is left to do, or there was nothing. */

import { cleanText } from "../../lib/clean-text.ts";
import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import { lastStop, stop } from "./parts.ts";
import { PATHS } from "./paths.ts";

/** A problem: the cause, and the steps that the reader can take. */
export interface ProblemView {
  readonly title: string;
  /** One or two sentences of our own; what a stranger sent is not repeated. */
  readonly whatHappened: string;
  readonly whatToDo: readonly string[];
  /** The reference under which the operator finds the attempt. */
  readonly reference?: string | undefined;
  /** A redirect that is not trusted enough to be followed without a question. */
  readonly returnTo?: { readonly href: string; readonly host: string };
}

export function problemView(model: ProblemView): View {
  const { title, whatHappened, whatToDo, reference, returnTo } = model;
  const body = html`
    <h1>${title}</h1>
    <p class="lede">${whatHappened}</p>
    ${whatToDo.length > 0 && stop("What you can do", steps(whatToDo))}
    ${
      reference !== undefined &&
      stop(
        "Reference",
        html`<p class="main-fact"><code>${reference}</code></p>
          <p class="small">
            Tell it to whoever runs this gateway: they can see where it stopped.
          </p>`,
      )
    }
    ${
      returnTo !== undefined &&
      isWeb(returnTo.href) &&
      html`<p class="stop last">
        <a class="button plain" href="${returnTo.href}" rel="noreferrer"
          >Return to ${cleanText(returnTo.host)}</a
        >
      </p>`
    }
  `;
  return { title, body, width: "narrow", kind: "login" };
}

function steps(sentences: readonly string[]): Html {
  if (sentences.length === 1) return html`<p>${sentences[0]}</p>`;
  return html`<ol class="steps">
    ${sentences.map((sentence) => html`<li>${sentence}</li>`)}
  </ol>`;
}

/** Refuses `javascript:` links, wherever the model comes from. */
function isWeb(href: string): boolean {
  return /^https?:\/\//i.test(href);
}

/** A proxy in front of the pages, which identifies the person of each request. */
export interface ProxySession {
  readonly title: string;
  /** Where the person signs out there. */
  readonly href: string;
}

/** @param proxy with which whoever opens a page here is signed in again at once. */
export function signedOutView(proxy?: ProxySession): View {
  const body = html`
    <h1>You are signed out${proxy !== undefined && " here"}</h1>
    ${proxy !== undefined && html`<p class="note">${stillSignedIn(proxy)}</p>`}
    <p class="lede">
      The applications that you connected stay connected. You can end that on your account page.
    </p>
    ${
      proxy === undefined
        ? lastStop("Sign in again", PATHS.account)
        : lastStop(`Sign out at ${proxy.title}`, proxy.href, "primary")
    }
  `;
  return { title: "Signed out", body, width: "narrow", kind: "site" };
}

function stillSignedIn({ title }: ProxySession): string {
  return `At ${title} you are still signed in. Whoever opens a page of this gateway in this browser is signed in again, as you.`;
}

/** @param title the completed action, e.g. `Everything is revoked`. */
export function doneView(title: string, sentence: string): View {
  const body = html`
    <h1>${title}</h1>
    <p class="lede">${sentence}</p>
    <p class="stop last good">You can close this window.</p>
  `;
  return { title, body, width: "narrow", kind: "login" };
}

export function notFoundView(): View {
  const body = html`
    <h1>There is nothing here</h1>
    <p class="lede">The address may be mistyped, or what it led to is gone.</p>
    ${lastStop("How to connect an application", PATHS.connect)}
  `;
  return { title: "Not found", body, width: "narrow", kind: "site" };
}
