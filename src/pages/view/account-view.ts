/** What a user has connected, created and signed in to, with a form that ends each of them, or all. */

import { type ApiKeyRow, apiKeysSection, type Credentials } from "./credentials-view.ts";
import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import {
  actionButton,
  badge,
  clientName,
  confirmed,
  entry,
  exactText,
  type Fact,
  foreign,
  lastUse,
  listOf,
  notice,
  type PageContext,
  part,
  reach,
  verification,
} from "./parts.ts";
import { PATHS } from "./paths.ts";
import { when } from "./time.ts";

export interface AccountView extends PageContext {
  readonly person: { readonly label: string; readonly provider: string; readonly isAdmin: boolean };
  readonly connections: readonly Connection[];
  readonly approvals: readonly RememberedApproval[];
  readonly sessions: readonly SignedInBrowser[];
  readonly keys: Credentials<ApiKeyRow>;
  readonly activity: readonly ActivityLine[];
  /** The sentence on the action that has just succeeded. */
  readonly notice: string | undefined;
}

/** The access of an application. */
interface Access {
  readonly id: string;
  readonly clientName: string;
  readonly verifiedHost: string | undefined;
  readonly redirectHost: string;
  readonly resource: string;
  readonly scopes: readonly string[];
}

export interface Connection extends Access {
  readonly createdAt: number;
  readonly lastUsedAt: number | undefined;
}

export interface RememberedApproval extends Access {
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

/** A line of the audit log, as the user reads it. */
export interface ActivityLine {
  readonly at: number;
  /** A sentence of our own, e.g. `Signed in with GitHub`. */
  readonly what: string;
  /** The subject of the action, in its own words. */
  readonly detail: string | undefined;
  readonly isDenial: boolean;
}

export function accountView(model: AccountView): View {
  const { person, connections, approvals, sessions, now, csrf } = model;
  const title = "Your account";
  const body = html`
    <h1>${title}</h1>
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
        connections.map((each) =>
          access(each, csrf, { path: PATHS.revokeConnection, label: "Revoke" }, [
            ["Connected", when(each.createdAt, now)],
            lastUse(each.lastUsedAt, now),
          ]),
        ),
        "No application is connected. The first one appears here when you approve it.",
      ),
    )}
    ${part(
      "Remembered approvals",
      "An application in this list may connect again without asking you.",
      listOf(
        approvals.map((each) =>
          access(each, csrf, { path: PATHS.forgetApproval, label: "Forget" }, [
            ["Approved", when(each.approvedAt, now)],
          ]),
        ),
        "Nothing is remembered: every application asks you each time.",
      ),
    )}
    ${apiKeysSection(model.keys, model)}
    ${part(
      "Browsers",
      "Where you are signed in to these pages. Applications do not depend on it.",
      listOf(
        sessions.map((each) => browser(each, model)),
        "You are signed in nowhere.",
      ),
    )}
    ${part("Recent activity", undefined, activity(model.activity, now))} ${revokeAll(csrf)}
  `;
  const nav = { current: "account", isAdmin: person.isAdmin } as const;
  return { title, body, width: "wide", kind: "site", nav };
}

function access(
  { id, clientName: name, verifiedHost, ...each }: Access,
  csrf: string,
  { path: action, label }: { readonly path: string; readonly label: string },
  dates: readonly Fact[],
): Html {
  return entry({
    title: html`${clientName(name)} ${verification(verifiedHost)}`,
    facts: [
      ["Access goes to", exactText(each.redirectHost)],
      ...reach([each.resource], each.scopes),
      ...dates,
    ],
    action: actionButton({ action, label, about: name, fields: { csrf, id }, look: "danger" }),
  });
}

function browser({ id, agent, ...each }: SignedInBrowser, { now, csrf }: PageContext): Html {
  const about = `the session of ${agent}`;
  const fields = { csrf, id };
  return entry({
    title: html`${foreign(agent, "A browser without a name")}
    ${each.isThisOne && badge("This browser", "good")}`,
    facts: [
      ["Signed in", when(each.createdAt, now)],
      ["Last seen", when(each.seenAt, now)],
    ],
    action: actionButton({ action: PATHS.endSession, label: "End", about, fields, look: "danger" }),
  });
}

function activity(lines: readonly ActivityLine[], now: number): Html {
  if (lines.length === 0) return html`<p class="empty">Nothing has happened yet.</p>`;
  return html`<ol class="activity">
    ${lines.map(
      ({ at, what, detail, isDenial }) =>
        html`<li class="${isDenial ? "bad" : "plain"}">
          <span class="small">${when(at, now)}</span
          ><span
            >${isDenial && html`<b>Denied</b> · `}${what}${
              detail !== undefined && html` · ${foreign(detail, "")}`
            }</span
          >
        </li>`,
    )}
  </ol>`;
}

function revokeAll(csrf: string): Html {
  return html`<section class="stop part warn">
    <h2>Revoke everything</h2>
    <p class="small">
      Ends every connection, API key, remembered approval and browser session of yours, this one
      too.
    </p>
    ${confirmed(
      "sure",
      "Continue",
      "Every application has to be connected again. This cannot be undone.",
      { action: PATHS.revokeAll, label: "Yes, revoke everything", fields: { csrf } },
    )}
  </section>`;
}
