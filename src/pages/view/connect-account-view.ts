/**
 * `/connect/<slug>`: a person sees what is going to be connected, to what and for whom, before the
 * browser leaves; and afterwards, that it is.
 */

import { connectPath } from "../../accounts/addresses.ts";
import { accountBadge, accountFacts, isWorking, type ShownAccount } from "./account-parts.ts";
import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import {
  actionButton,
  exactText,
  factList,
  foreign,
  hidden,
  type HiddenFields,
  notice,
  type PageContext,
  stop,
} from "./parts.ts";
import { disconnectPath } from "./paths.ts";

/** What every page about an account of one server says of it. */
export interface AccountPage extends PageContext {
  readonly server: {
    readonly slug: string;
    /** The operator's name for it. */
    readonly label: string;
    readonly host: string;
    /** The operator's sentence for whoever connects. */
    readonly help: string | undefined;
  };
  /** The name of the person for whom the gateway acts; absent where there is no sign-in. */
  readonly person: string | undefined;
  readonly isAdmin: boolean;
  /** One account is used for everybody, and an administrator connects it. */
  readonly isShared: boolean;
  /** The account that is connected now. */
  readonly account: ShownAccount | undefined;
}

export interface ConnectAccountView extends AccountPage {
  readonly way: SignInWay | KeyWay;
  /** The handle of the link that was followed. */
  readonly ask: string | undefined;
  readonly notice: string | undefined;
}

interface SignInWay {
  readonly kind: "oauth";
  /** Where the browser is going to be sent. */
  readonly host: string;
  /** The authorization server, where that is at another host. */
  readonly issuerHost: string | undefined;
  readonly scopes: readonly string[];
  /** The gateway may register there once more. */
  readonly canRegisterAnew: boolean;
}

interface KeyWay {
  readonly kind: "key";
  /** The error of the last try. */
  readonly error: string | undefined;
}

/** Scopes that mean the same everywhere (OpenID Connect Core sections 5.4 and 11). */
const SCOPE_WORDS: ReadonlyMap<string, string> = new Map([
  ["openid", "Know which account it is"],
  ["profile", "See your name and profile"],
  ["email", "See your e-mail address"],
  ["offline_access", "Stay connected while you are away"],
]);

export function connectAccountView(model: ConnectAccountView): View {
  const { server, way, account, isShared } = model;
  const label = foreign(server.label, server.slug);
  const body = html`
    <h1>${way.kind === "key" ? "Enter your key for" : "Connect"} ${label}</h1>
    <p class="lede">
      ${
        isShared
          ? html`Everybody who uses this gateway will use ${label} with this one account.`
          : html`Your applications will use ${label} through this gateway, as you.`
      }
    </p>
    ${notice(model.notice)}
    ${server.help !== undefined && html`<p class="note">${foreign(server.help, "", 300)}</p>`}
    ${stop(
      "Server",
      html`<p class="main-fact">${label}</p>
        <p>${exactText(server.host)}</p>`,
    )}
    ${account !== undefined && connectedNow(model, account)}
    ${way.kind === "oauth" ? signInStops(way) : undefined} ${whatHappens(model)}
    ${way.kind === "oauth" ? signInForms(model, way) : keyForm(model, way)}
    ${account !== undefined && disconnectForm(model)}
  `;
  return accountPage(model, way.kind === "key" ? "Enter a key" : "Connect an account", body);
}

/** The frame of these pages. */
export function accountPage(
  { person, isAdmin, isShared }: AccountPage,
  title: string,
  body: Html,
): View {
  const current = isShared ? "admin" : "account";
  return {
    ...{ title, body, width: "narrow", kind: "site" },
    ...(person !== undefined && { nav: { current, isAdmin } }),
  };
}

function connectedNow({ isShared, now }: AccountPage, account: ShownAccount): Html {
  const consequence = isShared
    ? "what everybody is doing with it ends"
    : "what your applications are doing with it ends";
  return stop(
    "Connected now",
    html`<p>${accountBadge(account)}</p>
      ${factList(accountFacts(account, now))}
      ${
        isWorking(account) &&
        html`<p class="note warn">
          This account works. Another one replaces it, and ${consequence}.
        </p>`
      }`,
    isWorking(account) ? "good" : "warn",
  );
}

function signInStops({ host, issuerHost, scopes }: SignInWay): Html {
  return html`${stop(
    "You sign in at",
    html`<p class="main-fact">${exactText(host)}</p>
      ${
        issuerHost !== undefined &&
        html`<p class="small">It belongs to the accounts of ${exactText(issuerHost)}.</p>`
      }
      <p class="small">
        Check that your browser shows this address before you sign in. This gateway does not see
        your password.
      </p>`,
  )}
  ${stop(
    "It asks you for",
    scopes.length === 0
      ? html`<p>What it gives by itself: the server names no permissions.</p>`
      : html`<ul class="scopes">
          ${scopes.map((scope) => html`<li class="scope">${scopeText(scope)}</li>`)}
        </ul>`,
  )}`;
}

function scopeText(scope: string): Html {
  const words = SCOPE_WORDS.get(scope);
  return html`<span class="tick"></span>
    <span class="scope-text"
      >${
        words === undefined
          ? exactText(scope)
          : html`${words} <span class="small">${exactText(scope)}</span>`
      }</span
    >`;
}

function whatHappens({ person, isShared, server, way }: ConnectAccountView): Html {
  const what = way.kind === "key" ? "the key" : "what it gets there";
  return stop(
    "What this gateway does with it",
    html`${
        person !== undefined &&
        html`<p>
          You are signed in here as <b>${foreign(person, "somebody")}</b>.
          ${
            isShared
              ? "The account is for everybody."
              : "The account is for you alone: nobody else can use it."
          }
        </p>`
      }
      <p>
        It sends ${what} to ${exactText(server.host)} with each request of
        ${isShared ? "an application" : "your applications"}, and nowhere else. It keeps it sealed
        and shows it to nobody${way.kind === "oauth" && ", and renews it when it ends"}.
      </p>
      <p class="small">You can disconnect it at any time.</p>`,
  );
}

function signInForms(model: ConnectAccountView, { host, canRegisterAnew }: SignInWay): Html {
  const { account, server } = model;
  const isReplacing = account !== undefined && isWorking(account);
  const action = connectPath(server.slug);
  const fields = fieldsOf(model);
  const isEnd = account === undefined && !canRegisterAnew;
  return html`<div class="stop ${isEnd ? "last" : "choices"}">
    ${actionButton({
      action,
      label: isReplacing ? "Connect another account" : `Continue to ${host}`,
      fields,
      look: "primary",
    })}
    ${
      canRegisterAnew &&
      html`<details class="sure">
        <summary>Does it show an error, and not send you back?</summary>
        <div class="note">
          <p>The sign-in service may have forgotten this gateway, which can register once more.</p>
          ${actionButton({
            action,
            label: "Register again and continue",
            fields: { ...fields, anew: "1" },
          })}
        </div>
      </details>`
    }
  </div>`;
}

function keyForm(model: ConnectAccountView, { error }: KeyWay): Html {
  return html`<section class="stop" aria-label="Your key">
    <form method="post" action="${connectPath(model.server.slug)}">
      ${hidden(fieldsOf(model))}
      <label for="key">Your key</label>
      ${error !== undefined && html`<p class="error" id="key-error" role="alert">${error}</p>`}
      <input
        class="field"
        type="password"
        id="key"
        name="key"
        autocomplete="off"
        autocapitalize="off"
        spellcheck="false"
        required
        aria-describedby="${error === undefined ? "key-hint" : "key-error key-hint"}"
        ${error !== undefined && html`aria-invalid="true"`}
      />
      <p class="small" id="key-hint">It is tried with one request before it is kept.</p>
      <button class="primary">Keep the key</button>
    </form>
  </section>`;
}

function fieldsOf({ csrf, ask }: ConnectAccountView): HiddenFields {
  return { csrf, ...(ask !== undefined && { e: ask }) };
}

function disconnectForm({ csrf, server }: AccountPage): Html {
  return html`<div class="stop last">
    ${actionButton({
      action: disconnectPath(server.slug),
      label: "Disconnect",
      fields: { csrf },
      look: "danger",
    })}
  </div>`;
}
