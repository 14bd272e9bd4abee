/**
 * The question whether an application may act for the user. It shows who asks, as far as that is
 * known, the target of the access, its resource and its scopes; and it makes No as easy as Yes.
 *
 * Nothing of the application is loaded, its logo least of all: it could imitate another
 * application, and would reveal the reader to a stranger. The page contains nothing about a person
 * who is not signed in.
 */

import { cleanText } from "../../lib/clean-text.ts";
import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import {
  actionButton,
  badge,
  clientName,
  exactText,
  foreign,
  hidden,
  redirectTarget,
  stop,
} from "./parts.ts";
import { PATHS } from "./paths.ts";

export interface ConsentView {
  /**
   * The handle of the attempt: only a form from this page contains it. The form also sends `scope`
   * (the optional ones) and `decision`.
   */
  readonly handle: string;
  readonly client: {
    /** The name that it gives itself; cleaned here. */
    readonly name: string;
    /** The host of the URL that identifies it, if its document was fetched from there. */
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
  /** The signed-in person; `undefined` when no one is signed in. */
  readonly account: string | undefined;
  /** The person approved a page that named somebody else. */
  readonly isOtherPerson: boolean;
  /** The changes since the person last approved; one sentence each. */
  readonly changes: readonly string[];
}

export interface ConsentScope {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  /** The scope has a checkbox, sent as `scope`. The others are fixed and not sent. */
  readonly isOptional: boolean;
  readonly isChecked: boolean;
  /** The person has not approved it before. */
  readonly isNew: boolean;
  /** The scope deserves a second look. */
  readonly isSensitive: boolean;
}

const MAX_CHANGE = 200;

export function consentView(model: ConsentView): View {
  const { client, scopes } = model;
  const body = html`
    <h1>Connect “${clientName(client.name)}”?</h1>
    ${model.isOtherPerson && otherPersonNote()} ${changesNote(model.changes)}
    ${stop("Who asks", whoAsks(model), client.verifiedHost === undefined ? "plain" : "good")}
    ${whereTo(model.redirectUri)} ${stop("To act as you on", actsOn(model))}
    ${stop("Signed in as", whoIsSignedIn(model))}
    <form method="post" action="${PATHS.authorize}">
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

function otherPersonNote(): Html {
  return html`<div class="note warn">
    <p><strong>You are signed in with another account now.</strong></p>
    <p>
      The page before named a different one, so its answer does not count. The application has no
      access to this account unless you approve it here.
    </p>
  </div>`;
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

/** Verified facts come first, and claims after them. */
function whoAsks({ client }: ConsentView): Html {
  const name = clientName(client.name);
  if (client.verifiedHost === undefined) {
    return html`<p class="main-fact">An unverified application</p>
      <p class="small">It calls itself “${name}”. Nobody has checked that.</p>`;
  }
  return html`<p class="main-fact">${exactText(client.verifiedHost)}</p>
    <p class="small">This host was checked. The name “${name}” is the application’s own.</p>`;
}

function whereTo(redirectUri: string): Html {
  const target = redirectTarget(redirectUri);
  const warning = {
    web: undefined,
    loopback: html`An app on <strong>this computer</strong> will receive access. Continue only if
      you just started it.`,
    application: html`The app on <strong>this device</strong> that opens ${exactText(target.place)}
      links will receive access. Continue only if you just used it.`,
  }[target.kind];
  const content = html`<p class="main-fact">${exactText(target.place)}</p>
    ${warning !== undefined && html`<p class="note warn">${warning}</p>`}
    <details>
      <summary>Full address</summary>
      <p class="small">${exactText(redirectUri)}</p>
    </details>`;
  return stop("Access goes to", content, warning === undefined ? "plain" : "warn");
}

function actsOn({ resource }: ConsentView): Html {
  return html`<p class="main-fact">${foreign(resource.name, "This gateway")}</p>
    <p class="small">${exactText(resource.url)}</p>
    ${
      resource.upstreams.length > 0 &&
      html`<ul class="chips" aria-label="Servers">
        ${resource.upstreams.map((name) => html`<li>${foreign(name, "A server without a name")}</li>`)}
      </ul>`
    }`;
}

function scopeItem(scope: ConsentScope): Html {
  const text = html`<span class="scope-text"
    ><b>${scope.label}</b>${scope.isNew && html` ${badge("New")}`}<span class="small"
      >${scope.description}</span
    ></span
  >`;
  const checked = scope.isChecked && html`checked`;
  return html`<li class="${scope.isSensitive ? "scope warn" : "scope"}">
    ${
      scope.isOptional
        ? html`<label
            ><input type="checkbox" name="scope" value="${scope.id}" ${checked} />${text}</label
          >`
        : html`<span class="tick" aria-hidden="true"></span>${text}`
    }
  </li>`;
}

function whoIsSignedIn({ account, handle }: ConsentView): Html {
  if (account === undefined) return html`<p>Nobody yet. You sign in on the next page.</p>`;
  return html`<div class="account">
    <p class="main-fact">${foreign(account, "Somebody without a name")}</p>
    ${actionButton({
      action: PATHS.authorizeAsOther,
      label: "Not you?",
      about: "Sign in with another account",
      fields: { handle },
      look: "link",
    })}
  </div>`;
}
