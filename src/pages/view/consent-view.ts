/**
 * The question whether an application may act for somebody. It says who asks, as far as that can
 * be known, where the access goes to, for what, and what it allows; and it makes No as easy as Yes.
 *
 * Nothing of the application's is loaded, its logo least of all: it would look like somebody else's,
 * and tell a stranger who reads this page. There is nothing here of a person who is not signed in.
 */

import { cleanText } from "../../lib/clean-text.ts";
import { actionButton, hidden } from "./forms.ts";
import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import { emailAddress, clientName, foreign, stop } from "./parts.ts";
import { redirectTarget } from "./redirect-target.ts";

export interface ConsentView {
  /** Takes the fields `handle`, `scope` (of the optional ones) and `decision`. */
  readonly action: string;
  /** Of the attempt: whoever sends it has seen this page. */
  readonly handle: string;
  readonly client: {
    /** What it calls itself; cleaned here. */
    readonly name: string;
    /** Of the URL that identifies it, if one does and its document was fetched from there. */
    readonly verifiedHost: string | undefined;
  };
  readonly redirectUri: string;
  readonly resource: {
    readonly name: string;
    readonly url: string;
    /** Names of the servers behind it. */
    readonly upstreams: readonly string[];
  };
  readonly scopes: readonly ConsentScope[];
  readonly account: ConsentAccount | undefined;
  /** What is not as it was when the person last approved; one sentence each. */
  readonly changes: readonly string[];
}

export interface ConsentScope {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  /** Has a box, sent as `scope`. The others go without saying and are not sent. */
  readonly isOptional: boolean;
  readonly isChecked: boolean;
  /** Was not in what the person approved before. */
  readonly isNew: boolean;
  /** Deserves a second look. */
  readonly isSensitive: boolean;
}

interface ConsentAccount {
  readonly label: string;
  /** Takes `handle`, and lets somebody else sign in. */
  readonly switchAction: string;
}

const MAX_CHANGE = 200;

export function consentView(model: ConsentView): View {
  const { client, scopes } = model;
  const body = html`
    <h1>Connect “${clientName(client.name)}”?</h1>
    ${changesNote(model.changes)}
    ${stop("Who asks", whoAsks(model), client.verifiedHost === undefined ? "plain" : "good")}
    ${whereTo(model.redirectUri)} ${stop("To act as you on", actsOn(model))}
    ${stop("Signed in as", whoIsSignedIn(model))}
    <form method="post" action="${model.action}">
      ${hidden({ handle: model.handle })}
      ${stop(
        "It may",
        html`<ul class="scopes">
          ${scopes.map(scopeItem)}
        </ul>`,
      )}
      <p class="small">You can end this at any time on your account page.</p>
      <div class="stop last">
        <div class="decision">
          <button class="plain" name="decision" value="deny">Deny</button>
          <button class="primary" name="decision" value="approve">Approve</button>
        </div>
      </div>
    </form>
  `;
  const title = `Connect ${cleanText(client.name) || "an application"}`;
  return { title, body, width: "narrow", kind: "login" };
}

function changesNote(changes: readonly string[]): Html | undefined {
  if (changes.length === 0) return undefined;
  return html`<div class="note warn">
    <p><strong>This application has changed since you approved it.</strong></p>
    <ul>
      ${changes.map((change) => html`<li>${foreign(change, "", MAX_CHANGE)}</li>`)}
    </ul>
  </div>`;
}

/** What is known comes first, and what is only claimed after it. */
function whoAsks({ client }: ConsentView): Html {
  const name = clientName(client.name);
  if (client.verifiedHost === undefined) {
    return html`<p class="main-fact">An unverified application</p>
      <p class="small">It calls itself “${name}”. Nobody has checked that.</p>`;
  }
  return html`<p class="main-fact">${emailAddress(client.verifiedHost)}</p>
    <p class="small">This host was checked. The name “${name}” is the application’s own.</p>`;
}

function whereTo(redirectUri: string): Html {
  const target = redirectTarget(redirectUri);
  const warning = {
    web: undefined,
    loopback: html`An app on <strong>this computer</strong> will receive access. Continue only if
      you just started it.`,
    application: html`The app on <strong>this device</strong> that opens
      ${emailAddress(target.place)} links will receive access. Continue only if you just used it.`,
  }[target.kind];
  const content = html`<p class="main-fact">${emailAddress(target.place)}</p>
    ${warning !== undefined && html`<p class="note warn">${warning}</p>`}
    <details>
      <summary>Full address</summary>
      <p class="small">${emailAddress(redirectUri)}</p>
    </details>`;
  return stop("Access goes to", content, warning === undefined ? "plain" : "warn");
}

function actsOn({ resource }: ConsentView): Html {
  return html`<p class="main-fact">${foreign(resource.name, "This gateway")}</p>
    <p class="small">${emailAddress(resource.url)}</p>
    ${
      resource.upstreams.length > 0 &&
      html`<ul class="chips" aria-label="Servers">
        ${resource.upstreams.map((name) => html`<li>${foreign(name, "A server without a name")}</li>`)}
      </ul>`
    }`;
}

function scopeItem(scope: ConsentScope): Html {
  const text = html`<span class="scope-text"
    ><b>${scope.label}</b>${scope.isNew && html` <span class="badge">New</span>`}<span class="small"
      >${scope.description}</span
    ></span
  >`;
  const look = scope.isSensitive ? "scope warn" : "scope";
  if (!scope.isOptional)
    return html`<li class="${look}"><span class="tick" aria-hidden="true"></span>${text}</li>`;
  const box = scope.isChecked
    ? html`<input type="checkbox" name="scope" value="${scope.id}" checked />`
    : html`<input type="checkbox" name="scope" value="${scope.id}" />`;
  return html`<li class="${look}"><label>${box}${text}</label></li>`;
}

function whoIsSignedIn({ account, handle }: ConsentView): Html {
  if (account === undefined) return html`<p>Nobody yet. You sign in on the next page.</p>`;
  return html`<div class="account">
    <p class="main-fact">${foreign(account.label, "Somebody without a name")}</p>
    ${actionButton({
      action: account.switchAction,
      label: "Not you?",
      about: "Sign in with another account",
      fields: { handle },
      look: "link",
    })}
  </div>`;
}
