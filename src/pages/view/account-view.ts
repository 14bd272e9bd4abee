/** Everything that a user has connected, created and signed in to, with a form that ends each of them, or all. */

import { verifiedHost } from "../../auth/clients/client-id-url.ts";
import { type OwnAccountRow, ownAccountsSection } from "./accounts-view.ts";
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
  redirectTarget,
  verification,
} from "./parts.ts";
import { PATHS } from "./paths.ts";
import { stdioSection } from "./stdio-snippets.ts";
import { type PublishedServerRow, publishedSection } from "./published-view.ts";
import { when } from "./time.ts";

export interface AccountView extends PageContext {
  readonly person: { readonly label: string; readonly provider: string; readonly isAdmin: boolean };
  /** Of each server that asks for one; `undefined` where they are not known at the moment. */
  readonly accounts: readonly OwnAccountRow[] | undefined;
  /** From machines of theirs; `undefined` where they are not known at the moment. */
  readonly published: readonly PublishedServerRow[] | undefined;
  readonly grants: readonly Grant[];
  readonly approvals: readonly Approval[];
  readonly sessions: readonly BrowserSession[];
  /** The id of the session in which the page is shown. */
  readonly ownSession: string;
  readonly keys: Credentials<ApiKeyRow>;
  readonly activity: readonly ActivityLine[];
  /** The default MCP endpoint. */
  readonly endpoint: string;
  /** People may publish servers of their own machines. */
  readonly isPublishingOn: boolean;
  /** The sentence on the action that has just succeeded. */
  readonly notice: string | undefined;
}

/** The access of an application. */
interface Access {
  readonly client: string;
  readonly name: string;
  readonly redirectUri: string;
  readonly resource: string;
  readonly scopes: readonly string[];
}

interface Grant extends Access {
  readonly id: string;
  readonly createdAt: number;
  readonly usedAt?: number;
}

interface Approval extends Access {
  readonly approvedAt: number;
}

interface BrowserSession {
  readonly id: string;
  /** The `User-Agent`. */
  readonly agent: string;
  readonly createdAt: number;
  readonly seenAt: number;
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

/** In this order: most of them also claim to be the later ones. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\b(?:OPR|Opera)\//, "Opera"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:iPhone|iPad)\b/, "iOS"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

export function accountView(model: AccountView): View {
  const { person, now, csrf } = model;
  const title = "Your account";
  const body = html`
    <h1>${title}</h1>
    <div class="account">
      <p class="lede">
        Signed in as <b>${foreign(person.label, "somebody")}</b> with ${person.provider}
      </p>
      ${actionButton({ action: PATHS.logout, label: "Sign out", fields: { csrf } })}
    </div>
    ${notice(model.notice)} ${ownAccountsSection(model.accounts, model)}
    ${publishedSection(model.published, model)}
    ${part(
      "Connected applications",
      "They act as you until you end it. Access ends within seconds.",
      listOf(
        model.grants.map((grant) =>
          access(grant, button(PATHS.revokeConnection, "Revoke", grant.name, grant.id), [
            ["Connected", when(grant.createdAt, now)],
            lastUse(grant.usedAt, now),
          ]),
        ),
        "No application is connected. The first one appears here when you approve it.",
      ),
    )}
    ${part(
      "Remembered approvals",
      "An application in this list may connect again without asking you.",
      listOf(
        // All approvals of an application are withdrawn together, so they share its id.
        model.approvals.map((approval) =>
          access(approval, button(PATHS.forgetApproval, "Forget", approval.name, approval.client), [
            ["Approved", when(approval.approvedAt, now)],
          ]),
        ),
        "Nothing is remembered: every application asks you each time.",
      ),
    )}
    ${apiKeysSection(model.keys, model)} ${stdioSection(model.endpoint, model.isPublishingOn)}
    ${part(
      "Browsers",
      "Where you are signed in to these pages. Applications do not depend on it.",
      listOf(model.sessions.map(browser), "You are signed in nowhere."),
    )}
    ${part("Recent activity", undefined, activity(model.activity, now))} ${revokeAll(csrf)}
  `;
  const nav = { current: "account", isAdmin: person.isAdmin } as const;
  return { title, body, width: "wide", kind: "site", nav, sendsOnce: true };

  function button(action: string, label: string, about: string, id: string): Html {
    return actionButton({ action, label, about, fields: { csrf, id }, look: "danger" });
  }

  function browser({ id, agent, createdAt, seenAt }: BrowserSession): Html {
    const name = browserName(agent);
    return entry({
      title: html`${foreign(name, "A browser without a name")}
      ${id === model.ownSession && badge("This browser", "good")}`,
      facts: [
        ["Signed in", when(createdAt, now)],
        ["Last seen", when(seenAt, now)],
      ],
      action: button(PATHS.endSession, "End", `the session of ${name}`, id),
    });
  }
}

function access(
  { client, name, redirectUri, resource, scopes }: Access,
  action: Html,
  dates: readonly Fact[],
): Html {
  return entry({
    title: html`${clientName(name)} ${verification(verifiedHost(client))}`,
    facts: [
      ["Access goes to", exactText(redirectTarget(redirectUri).place)],
      ...reach([resource], scopes),
      ...dates,
    ],
    action,
  });
}

/** @returns a name that a person recognises; the given text when it names no known browser. */
function browserName(agent: string): string {
  const nameIn = (table: typeof BROWSERS): string | undefined =>
    table.find(([pattern]) => pattern.test(agent))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  if (browser === undefined) return agent;
  return system === undefined ? browser : `${browser} on ${system}`;
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
      Ends every connection, account at a server, API key, remembered approval and browser session
      of yours, this one too, and deletes the list of your calls.
    </p>
    ${confirmed(
      "sure",
      "Continue",
      "Every application has to be connected again. This cannot be undone.",
      { action: PATHS.revokeAll, label: "Yes, revoke everything", fields: { csrf } },
    )}
  </section>`;
}
