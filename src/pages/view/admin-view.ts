/** The operator's page: the health of the servers, the users, and their applications. */

import type {
  EntryNotice,
  HealthState,
  ResourceConflict,
  ServerHealth,
} from "../../observability/health.ts";
import { type AccountServerRow, accountServersSection } from "./accounts-view.ts";
import { type Credentials, type ServiceRow, servicesSection } from "./credentials-view.ts";
import { entryNotices } from "./entry-notices.ts";
import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import {
  actionButton,
  badge,
  type BadgeLook,
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
import { PATHS } from "./paths.ts";
import { when } from "./time.ts";

export interface AdminView extends PageContext {
  /** In the configured order. */
  readonly servers: readonly ServerHealth[];
  /** The entries of the configuration that are not served as they are written. */
  readonly notices: readonly EntryNotice[];
  /** Those that know their callers by accounts. */
  readonly accounts: readonly AccountServerRow[];
  readonly users: readonly AdminUser[];
  readonly clients: readonly AdminClient[];
  /** The client id after which the list continues, if it does. */
  readonly moreClients: string | undefined;
  readonly services: Credentials<ServiceRow>;
  /** The sentence on the action that has just succeeded. */
  readonly notice: string | undefined;
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

const STATES: Readonly<Record<HealthState, readonly [look: BadgeLook, label: string]>> = {
  healthy: ["good", "Healthy"],
  failing: ["warn", "Failing"],
  down: ["bad", "Down"],
  unknown: ["", "Unknown"],
};
const KINDS = [
  ["tools", "tool", "tools"],
  ["resources", "resource", "resources"],
  ["templates", "resource template", "resource templates"],
  ["prompts", "prompt", "prompts"],
] as const;
/** Our sentences contain a slug. */
const MAX_MESSAGE = 400;
const MAX_URI = 200;

export function adminView(model: AdminView): View {
  const title = "Admin";
  const body = html`
    <h1>${title}</h1>
    ${notice(model.notice)}
    ${part(
      "Servers",
      "A server that is failing is served from what it last listed; one that is down is left out of lists. Both can be called. A resource that two servers have is that of the one which MCP_SERVERS names first: change the order there, or deny it at one of them.",
      html`${model.notices.length > 0 && entryNotices(model.notices)}
      ${servers(model.servers, model.now)}`,
    )}
    ${accountServersSection(model.accounts, model)}
    ${part(
      "People",
      "Disabling a person signs them out everywhere and ends all their connections and accounts.",
      listOf(
        model.users.map((each) => user(each, model)),
        "Nobody has signed in yet.",
      ),
    )}
    ${part(
      "Applications",
      "Clients that registered, and clients that are known by a URL.",
      html`${listOf(
        model.clients.map((each) => client(each, model)),
        "No application has come yet.",
      )}
      ${model.moreClients !== undefined && moreClients(model.moreClients)}`,
    )}
    ${servicesSection(model.services, model)}
  `;
  const nav = { current: "admin", isAdmin: true } as const;
  return { title, body, width: "wide", kind: "site", nav };
}

/** With fifty servers, the first words name what a reader looks for. */
function servers(list: readonly ServerHealth[], now: number): Html {
  const counted = (Object.keys(STATES) as HealthState[]).flatMap((state) => {
    const { length } = list.filter((each) => each.state === state);
    return length === 0 ? [] : [`${length} ${STATES[state][1].toLowerCase()}`];
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
  const { slug, label: name, state, trouble, seenAt, conflicts = [] } = each;
  const [look, label] = STATES[state];
  return html`<li class="entry" id="${anchor(slug)}">
    <h3>
      ${name !== undefined && html`${foreign(name, slug)} · `}${foreign(slug, "?")}
      ${badge(label, look)} ${conflicts.length > 0 && badge("Conflict", "warn")}
    </h3>
    ${
      trouble !== undefined &&
      html`<p>
        ${foreign(trouble.message, "", MAX_MESSAGE)}
        <span class="small">(began ${when(trouble.since, now)})</span>
      </p>`
    }
    ${conflicts.map(conflict)}
    <p class="small">
      ${
        seenAt === undefined
          ? (each.note ?? "Nobody has asked what it offers yet, or it did not say")
          : html`${offer(each.counts)} · seen ${when(seenAt, now)}`
      }
      ${each.watched > 0 && html` · ${subscriptions(each)}`}
    </p>
  </li>`;
}

function conflict({ message, uris }: ResourceConflict): Html {
  return html`<p>
    ${foreign(message, "", MAX_MESSAGE)}${
      uris.length > 0 &&
      html`:
      ${uris.map((uri, n) => html`${n > 0 && ", "}<code>${foreign(uri, "?", MAX_URI)}</code>`)}`
    }
  </p>`;
}

function offer(counts: ServerHealth["counts"]): string {
  const said = KINDS.flatMap(([kind, one, many]) =>
    counts[kind] === 0 ? [] : [`${counts[kind]} ${counts[kind] === 1 ? one : many}`],
  );
  return said.length === 0 ? "Offers nothing" : said.join(", ");
}

function subscriptions({ watched, isWatching }: ServerHealth): string {
  const said = watched === 1 ? "1 subscription" : `${watched} subscriptions`;
  return isWatching ? said : `${said}, but it cannot be listened to at the moment`;
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
      ["First seen", when(each.createdAt, now)],
      ["Last seen", when(each.seenAt, now)],
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
