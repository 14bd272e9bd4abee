/** The operator's page: the health of the servers, the users, and their applications. */

import type { ServerHealth } from "../../observability/health.ts";
import { serversSection } from "./admin-servers-view.ts";
import { type ServicesModel, servicesSection } from "./admin-services-view.ts";
import { actionButton } from "./forms.ts";
import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import {
  exactText,
  clientName,
  entry,
  foreign,
  lastUse,
  listOf,
  notice,
  part,
  verification,
} from "./parts.ts";
import { PATHS } from "./paths.ts";
import { when } from "./time.ts";

export interface AdminView {
  readonly now: number;
  readonly csrf: string;
  readonly servers: readonly ServerHealth[];
  readonly users: readonly AdminUser[];
  readonly clients: readonly AdminClient[];
  /** The client id after which the list continues, if it does. */
  readonly moreClients: string | undefined;
  readonly services: ServicesModel;
  /** The sentence on the action that has just succeeded. */
  readonly notice: string | undefined;
}

export interface AdminUser {
  readonly id: string;
  readonly label: string;
  readonly provider: string;
  readonly isAdmin: boolean;
  readonly isDisabled: boolean;
  /** Whether the current configuration admits them, unless they are disabled. */
  readonly isLetIn: boolean;
  /** The reader, for whom the page has no button to disable themselves. */
  readonly isYou: boolean;
  readonly createdAt: number;
  readonly seenAt: number;
}

export interface AdminClient {
  readonly id: string;
  readonly name: string;
  readonly verifiedHost: string | undefined;
  readonly redirectHosts: readonly string[];
  /** `undefined` for a client whose id is a URL. */
  readonly registeredAt: number | undefined;
  readonly lastUsedAt: number | undefined;
}

export function adminView(model: AdminView): View {
  const { now, csrf } = model;
  const body = html`
    <h1>Admin</h1>
    ${notice(model.notice)} ${serversSection(model.servers, now)}
    ${part(
      "People",
      "Who is disabled is signed out everywhere, with everything they connected.",
      listOf(
        model.users.map((each) => user(each, now, csrf)),
        "Nobody has signed in yet.",
      ),
    )}
    ${part(
      "Applications",
      "Clients that registered, and clients that are known by a URL.",
      html`${listOf(
        model.clients.map((each) => client(each, now, csrf)),
        "No application has come yet.",
      )}
      ${model.moreClients !== undefined && moreClients(model.moreClients)}`,
    )}
    ${servicesSection(model.services, now, csrf)}
  `;
  const nav = { current: "admin", isAdmin: true } as const;
  return { title: "Admin", body, width: "wide", kind: "site", nav };
}

function user(each: AdminUser, now: number, csrf: string): Html {
  const fields = { csrf, id: each.id };
  const about = each.label;
  return entry({
    title: html`${foreign(each.label, each.id)} ${badges(each)}`,
    facts: [
      ["Signs in with", each.provider],
      ["First seen", when(each.createdAt, now)],
      ["Last seen", when(each.seenAt, now)],
      ["User id", exactText(each.id)],
    ],
    action: each.isYou
      ? undefined
      : each.isDisabled
        ? actionButton({ action: PATHS.enableUser, label: "Enable", about, fields })
        : actionButton({
            action: PATHS.disableUser,
            label: "Disable",
            about,
            fields,
            look: "danger",
          }),
  });
}

function badges({ isYou, isAdmin, isDisabled, isLetIn }: AdminUser): Html {
  return html`${isYou && html`<span class="badge good">You</span> `}
  ${isAdmin && html`<span class="badge">Admin</span> `}
  ${isDisabled && html`<span class="badge warn">Disabled</span>`}
  ${!isLetIn && html`<span class="badge warn">Not let in any more</span>`}`;
}

function moreClients(after: string): Html {
  const query = new URLSearchParams({ after });
  return html`<p><a href="${PATHS.admin}?${query.toString()}">More applications</a></p>`;
}

function client(each: AdminClient, now: number, csrf: string): Html {
  const registered =
    each.registeredAt === undefined ? "not: it is known by its URL" : when(each.registeredAt, now);
  return entry({
    title: html`${clientName(each.name)} ${verification(each.verifiedHost)}`,
    facts: [
      ["Access goes to", exactText(each.redirectHosts.join(", "))],
      ["Registered", registered],
      lastUse(each.lastUsedAt, now),
      ["Client id", exactText(each.id)],
    ],
    question: deletion(each, csrf),
  });
}

/** The confirmation needs no script: the button is behind a disclosure. */
function deletion({ id, name }: AdminClient, csrf: string): Html {
  return html`<details class="ask">
    <summary>Delete<span class="unseen"> ${clientName(name)}</span></summary>
    <div class="note warn">
      <p>
        It is disconnected from everybody who uses it, and its registration is deleted. This cannot
        be undone.
      </p>
      ${actionButton({
        action: PATHS.deleteClient,
        label: "Delete for everybody",
        about: name,
        ...{ fields: { csrf, id }, look: "danger" },
      })}
    </div>
  </details>`;
}
