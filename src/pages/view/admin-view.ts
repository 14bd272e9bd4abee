/** The operator's page: what needs them, the health of the servers, the users, and their applications. */

import type { EntryNotice, ServerHealth } from "../../observability/health.ts";
import type { AskedKind, AttentionItem } from "../operator/attention-item.ts";
import { type AccountServerRow, accountServersSection, sealSection } from "./accounts-view.ts";
import { type Credentials, type ServiceRow, servicesSection } from "./credentials-view.ts";
import { attentionSection } from "./attention-view.ts";
import { type ListPlace, pager, searchForm } from "./catalog-parts.ts";
import { entryNotices } from "./entry-notices.ts";
import {
  conflictEntry,
  HEALTH_STATES,
  healthBadge,
  healthWords,
  MAX_MESSAGE,
  offer,
  subscriptions,
  unseenWords,
} from "./health-parts.ts";
import { type Html, html } from "./html.ts";
import type { Nav, View } from "./layout.ts";
import {
  actionButton,
  badge,
  clientName,
  confirmed,
  entry,
  exactText,
  foreign,
  lastUse,
  listOf,
  notice,
  type PageContext,
  part,
  verification,
} from "./parts.ts";
import { adminServerPath, PATHS } from "./paths.ts";
import { when } from "./time.ts";

export interface AdminView extends PageContext {
  readonly nav: Nav;
  /** What needs somebody, the most urgent first. */
  readonly items: readonly AttentionItem[];
  /** The kinds that something could not be asked for. */
  readonly notKnown: readonly AskedKind[];
  /** In the configured order. */
  readonly servers: readonly ServerHealth[];
  /** The entries of the configuration that are not served as they are written. */
  readonly notices: readonly EntryNotice[];
  /** Those that know their callers by accounts. */
  readonly accounts: readonly AccountServerRow[];
  /** There is an account, or a secret of an added server. */
  readonly isAnythingSealed: boolean;
  readonly publishing: {
    readonly isOn: boolean;
    /** How many do; `undefined` where there is no sign-in. */
    readonly people: number | undefined;
  };
  /** Absent where there is no sign-in. */
  readonly people: AdminPeople | undefined;
  /** The sentence on the action that has just succeeded. */
  readonly notice: string | undefined;
}

interface AdminPeople {
  readonly users: UserList;
  readonly clients: readonly AdminClient[];
  /** The client id after which the list continues, if it does. */
  readonly moreClients: string | undefined;
  readonly services: Credentials<ServiceRow>;
}

/** Those who signed in last come first. */
interface UserList extends ListPlace {
  readonly rows: readonly AdminUser[];
  /** How many fit the search. */
  readonly found: number;
  /** How many there are. */
  readonly count: number;
}

export interface AdminUser {
  readonly id: string;
  readonly label: string;
  readonly provider: string;
  readonly isAdmin: boolean;
  readonly isDisabled: boolean;
  /** True when the current configuration admits them, unless they are disabled. */
  readonly isLetIn: boolean;
  /** The reader, for whom the page has no button to disable themselves. */
  readonly isYou: boolean;
  readonly createdAt: number;
  readonly signedInAt: number;
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
  const title = "Admin";
  const body = html`
    <h1>${title}</h1>
    ${notice(model.notice)} ${attentionSection(model)}
    ${part(
      "Servers",
      "A server that is failing is served from what it last listed; one that is down is left out of lists. Both can be called. A resource that two servers have is that of the one which MCP_SERVERS names first: change the order there, or deny it at one of them.",
      html`${model.notices.length > 0 && html`<div id="entries">${entryNotices(model.notices)}</div>`}
        ${servers(model.servers, model.now)}
        <p><a class="button" href="${PATHS.adminServers}">Add and change servers</a></p>`,
    )}
    ${accountServersSection(model.accounts, model)} ${model.isAnythingSealed && sealSection(model)}
    ${publishing(model.publishing)} ${model.people !== undefined && people(model.people, model)}
  `;
  return { title, body, width: "wide", kind: "site", nav: model.nav, sendsOnce: true };
}

/** Which servers they are is for their people alone to see. */
function publishing({ isOn, people: count }: AdminView["publishing"]): Html {
  const who =
    count === 0
      ? "Nobody does so now."
      : `${count === 1 ? "1 person does" : `${count} people do`} so now, or did in the last day.`;
  return part(
    "Published servers",
    "With edgeway publish, people offer servers of their own machines to themselves alone. No page shows you which.",
    html`<p>
      ${badge(isOn ? "On" : "Off", isOn ? "good" : "")}
      ${isOn ? count !== undefined && who : html`<code>PUBLISHING = "on"</code> allows it.`}
    </p>`,
  );
}

function people(known: AdminPeople, page: PageContext): Html {
  return html`${part(
    "People",
    "Disabling a person signs them out everywhere and ends all their connections and accounts.",
    html`<div id="people">${userList(known.users, page)}</div>`,
  )}
  ${part(
    "Applications",
    "Clients that registered, and clients that are known by a URL.",
    html`${listOf(
      known.clients.map((each) => client(each, page)),
      "No application has come yet.",
    )}
    ${known.moreClients !== undefined && moreClients(known.moreClients)}`,
  )}
  ${servicesSection(known.services, page)}`;
}

const PEOPLE = "#people";

function userList(users: UserList, page: PageContext): Html {
  const { query, rows, pages, found, count } = users;
  const isSearched = query !== "";
  const people = count === 1 ? "1 person has" : `${count} people have`;
  const sentence = `${isSearched ? `${found} of ` : ""}${people} signed in. Those who did so last come first.`;
  return html`${count > 0 && html`<p>${sentence}</p>`}
  ${(isSearched || pages > 1) && searchForm(`${PATHS.admin}${PEOPLE}`, query, "Search people")}
  ${listOf(
    rows.map((each) => user(each, page)),
    isSearched ? "Nobody has that in their name, address or id." : "Nobody has signed in yet.",
  )}
  ${pager(PATHS.admin, users, PEOPLE)}`;
}

/** With fifty servers, the first words name what a reader looks for. */
function servers(list: readonly ServerHealth[], now: number): Html {
  const counted = HEALTH_STATES.flatMap((state) => {
    const { length } = list.filter((each) => each.state === state);
    return length === 0 ? [] : [`${length} ${healthWords(state).toLowerCase()}`];
  });
  const unwell = list.filter(({ state }) => state === "failing" || state === "down");
  return html`${list.length > 0 && html`<p><b>${counted.join(", ")}</b></p>`}
  ${
    unwell.length > 0 &&
    html`<ul class="chips" aria-label="Not well">
      ${unwell.map(
        ({ slug }) => html`<li><a href="#${anchor(slug)}">${foreign(slug, "?")}</a></li>`,
      )}
    </ul>`
  }
  ${listOf(
    list.map((each) => server(each, now)),
    "No server is configured.",
  )}`;
}

function server(each: ServerHealth, now: number): Html {
  const { slug, label: name, trouble, seenAt, conflicts = [] } = each;
  return html`<li class="entry" id="${anchor(slug)}">
    <h3>
      <a href="${adminServerPath(slug)}"
        >${name !== undefined && html`${foreign(name, slug)} · `}${foreign(slug, "?")}</a
      >
      ${healthBadge(each)} ${conflicts.length > 0 && badge("Conflict", "warn")}
    </h3>
    ${
      trouble !== undefined &&
      html`<p>
        ${foreign(trouble.message, "", MAX_MESSAGE)}
        <span class="small">(began ${when(trouble.since, now)})</span>
      </p>`
    }
    ${conflicts.map(conflictEntry)}
    <p class="small">
      ${
        seenAt === undefined
          ? (each.note ?? unseenWords(each))
          : html`${offer(each.counts)} · seen ${when(seenAt, now)}`
      }
      ${each.watched > 0 && html` · ${subscriptions(each)}`}
    </p>
  </li>`;
}

function anchor(slug: string): string {
  return `server-${slug}`;
}

function user(each: AdminUser, { now, csrf }: PageContext): Html {
  const { id, label: about, isYou, isAdmin, isDisabled, isLetIn } = each;
  const fields = { csrf, id };
  const change = isDisabled
    ? actionButton({ action: PATHS.enableUser, label: "Enable", about, fields })
    : actionButton({ action: PATHS.disableUser, label: "Disable", about, fields, look: "danger" });
  return entry({
    title: html`${foreign(about, id)} ${isYou && html`${badge("You", "good")} `}
    ${isAdmin && html`${badge("Admin")} `} ${isDisabled && badge("Disabled", "warn")}
    ${!isLetIn && badge("Not let in any more", "warn")}`,
    facts: [
      ["Signs in with", each.provider],
      ["First signed in", when(each.createdAt, now)],
      ["Last signed in", when(each.signedInAt, now)],
      ["User id", exactText(id)],
    ],
    action: isYou ? undefined : change,
  });
}

function client({ id, name, ...each }: AdminClient, { now, csrf }: PageContext): Html {
  const registered =
    each.registeredAt === undefined ? "not: it is known by its URL" : when(each.registeredAt, now);
  return entry({
    title: html`${clientName(name)} ${verification(each.verifiedHost)}`,
    facts: [
      ["Access goes to", exactText(each.redirectHosts.join(", "))],
      ["Registered", registered],
      lastUse(each.lastUsedAt, now),
      ["Client id", exactText(id)],
    ],
    question: confirmed(
      "ask",
      html`Delete<span class="unseen"> ${clientName(name)}</span>`,
      "It is disconnected from everybody who uses it, and its registration is deleted. This cannot be undone.",
      {
        action: PATHS.deleteClient,
        label: "Delete for everybody",
        about: name,
        fields: { csrf, id },
      },
    ),
  });
}

function moreClients(after: string): Html {
  const query = new URLSearchParams({ after });
  return html`<p><a href="${PATHS.admin}?${query.toString()}">More applications</a></p>`;
}
