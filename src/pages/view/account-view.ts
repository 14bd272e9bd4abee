/** The connections of a user, and the forms that end each of them, or all. */

import { actionButton, type HiddenFields } from "./forms.ts";
import { type Html, html } from "./html.ts";
import { type ApiKeysModel, apiKeysSection } from "./account-keys-view.ts";
import { type ActivityLine, activityList } from "./activity.ts";
import type { View } from "./layout.ts";
import {
  exactText,
  clientName,
  entry,
  type Fact,
  foreign,
  lastUse,
  listOf,
  notice,
  part,
  verification,
} from "./parts.ts";
import { PATHS } from "./paths.ts";
import { when } from "./time.ts";

export interface AccountView {
  /** Milliseconds since the epoch, as all times are here. */
  readonly now: number;
  readonly csrf: string;
  readonly person: { readonly label: string; readonly provider: string; readonly isAdmin: boolean };
  readonly connections: readonly Connection[];
  readonly approvals: readonly RememberedApproval[];
  readonly sessions: readonly SignedInBrowser[];
  readonly keys: ApiKeysModel;
  readonly activity: readonly ActivityLine[];
  /** The sentence on the action that has just succeeded. */
  readonly notice: string | undefined;
}

export interface Connection {
  readonly id: string;
  readonly clientName: string;
  readonly verifiedHost: string | undefined;
  readonly redirectHost: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly createdAt: number;
  readonly lastUsedAt: number | undefined;
}

export interface RememberedApproval {
  readonly id: string;
  readonly clientName: string;
  readonly verifiedHost: string | undefined;
  readonly redirectHost: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly approvedAt: number;
}

export interface SignedInBrowser {
  readonly id: string;
  /** The name of the browser. */
  readonly agent: string;
  readonly createdAt: number;
  readonly seenAt: number;
  readonly isThisOne: boolean;
}

export function accountView(model: AccountView): View {
  const { person, connections, approvals, sessions, now, csrf } = model;
  const body = html`
    <h1>Your account</h1>
    <div class="account">
      <p class="lede">
        Signed in as <b>${foreign(person.label, "somebody")}</b> with ${person.provider}
      </p>
      ${actionButton({ action: PATHS.logout, label: "Sign out", fields: { csrf } })}
    </div>
    ${notice(model.notice)}
    ${part(
      "Connected applications",
      "They act as you until you end it. Access ends within seconds.",
      listOf(
        connections.map((each) => connection(each, now, csrf)),
        "No application is connected. The first one appears here when you approve it.",
      ),
    )}
    ${part(
      "Remembered approvals",
      "An application in this list may connect again without asking you.",
      listOf(
        approvals.map((each) => approval(each, now, csrf)),
        "Nothing is remembered: every application asks you each time.",
      ),
    )}
    ${apiKeysSection(model.keys, now, csrf)}
    ${part(
      "Browsers",
      "Where you are signed in to these pages. Applications do not depend on it.",
      listOf(
        sessions.map((each) => browser(each, now, csrf)),
        "You are signed in nowhere.",
      ),
    )}
    ${part("Recent activity", undefined, activityList(model.activity, now))} ${revokeAll(csrf)}
  `;
  const nav = { current: "account", isAdmin: person.isAdmin } as const;
  return { title: "Your account", body, width: "wide", kind: "site", nav };
}

function connection(each: Connection, now: number, csrf: string): Html {
  return entry({
    title: named(each),
    facts: [
      ...reach(each),
      ["Connected", when(each.createdAt, now)],
      lastUse(each.lastUsedAt, now),
    ],
    action: removal(PATHS.revokeConnection, "Revoke", each, { csrf, id: each.id }),
  });
}

function approval(each: RememberedApproval, now: number, csrf: string): Html {
  return entry({
    title: named(each),
    facts: [...reach(each), ["Approved", when(each.approvedAt, now)]],
    action: removal(PATHS.forgetApproval, "Forget", each, { csrf, id: each.id }),
  });
}

type Named = Pick<Connection, "clientName" | "verifiedHost">;
type Reach = Pick<Connection, "redirectHost" | "resource" | "scopes">;

function named(each: Named): Html {
  return html`${clientName(each.clientName)} ${verification(each.verifiedHost)}`;
}

function reach({ redirectHost, resource, scopes }: Reach): readonly Fact[] {
  return [
    ["Access goes to", exactText(redirectHost)],
    ["Acts on", exactText(resource)],
    ["Scopes", exactText(scopes.join(" "))],
  ];
}

function removal(action: string, label: string, each: Named, fields: HiddenFields): Html {
  return actionButton({ action, label, about: each.clientName, fields, look: "danger" });
}

function browser(each: SignedInBrowser, now: number, csrf: string): Html {
  const title = html`${foreign(each.agent, "A browser without a name")}
  ${each.isThisOne && html`<span class="badge good">This browser</span>`}`;
  return entry({
    title,
    facts: [
      ["Signed in", when(each.createdAt, now)],
      ["Last seen", when(each.seenAt, now)],
    ],
    action: actionButton({
      action: PATHS.endSession,
      label: "End",
      about: `the session of ${each.agent}`,
      fields: { csrf, id: each.id },
      look: "danger",
    }),
  });
}

/** The confirmation needs no script: the button is behind a disclosure. */
function revokeAll(csrf: string): Html {
  return html`<section class="stop part warn">
    <h2>Revoke everything</h2>
    <p class="small">
      Ends every connection, API key, remembered approval and browser session of yours, this one
      too.
    </p>
    <details class="sure">
      <summary>Continue</summary>
      <div class="note warn">
        <p>Every application has to be connected again. This cannot be undone.</p>
        ${actionButton({
          action: PATHS.revokeAll,
          label: "Yes, revoke everything",
          fields: { csrf },
          look: "danger",
        })}
      </div>
    </details>
  </section>`;
}
