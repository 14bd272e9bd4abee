/** The page of all servers, for whoever runs the gateway: those that are configured, those that were added, and a form for more. */

import type { AddedServer, AddedState } from "../../observability/added-servers.ts";
import type { EntryNotice, ServerHealth } from "../../observability/health.ts";
import { addressNote } from "./added-server-parts.ts";
import { entryNotices, noticesOfEntries } from "./entry-notices.ts";
import { healthBadge } from "./health-parts.ts";
import { type Html, html } from "./html.ts";
import type { Nav, View } from "./layout.ts";
import {
  badge,
  type BadgeLook,
  exactText,
  foreign,
  hidden,
  listOf,
  notice,
  type PageContext,
  part,
} from "./parts.ts";
import { adminServerPath, PATHS } from "./paths.ts";
import { when } from "./time.ts";

export interface AdminServersView extends PageContext {
  readonly nav: Nav;
  /** Of the servers that are served, in the operator's order. */
  readonly health: readonly ServerHealth[];
  readonly added: readonly AddedServer[];
  /** The slugs of those that an entry of `MCP_SERVERS` overrides. */
  readonly overridden: readonly string[];
  /** The gateway runs on this machine. */
  readonly allowsLoopback: boolean;
  readonly notices: readonly EntryNotice[];
  /** Why what was pasted could not be read. */
  readonly mistake: string | undefined;
  readonly notice: string | undefined;
  /** The way to a new sign-in, for whoever needs one to add a server. */
  readonly signIn: string | undefined;
}

const STATE_BADGES: Readonly<Record<AddedState, readonly [label: string, look: BadgeLook]>> = {
  draft: ["Draft", "warn"],
  live: ["Served", "good"],
  paused: ["Paused", ""],
};

export function stateBadge(state: AddedState, isOverridden: boolean): Html {
  if (isOverridden) return badge("Not used", "warn");
  const [word, look] = STATE_BADGES[state];
  return badge(word, look);
}

/** Whatever the state of such a server is, nobody is served by it. */
export const OVERRIDDEN =
  "MCP_SERVERS has this slug, too, and its entry wins: nobody is served by the server that was added here. Remove this one, or take the entry out of MCP_SERVERS and deploy.";

export function adminServersView(model: AdminServersView): View {
  const { added, overridden, health, notices, nav } = model;
  const slugs = new Set(added.map(({ slug }) => slug));
  const isConfigured = (slug: string): boolean => !slugs.has(slug) || overridden.includes(slug);
  const configured = health.filter(({ slug }) => isConfigured(slug));
  const served = new Set(health.map(({ slug }) => slug));
  const others = noticesOfEntries(notices, served).filter(
    ({ slug }) => slug === undefined || isConfigured(slug),
  );
  const body = html`
    <p class="small back"><a href="${PATHS.admin}">Admin</a></p>
    <h1>Servers</h1>
    ${notice(model.notice)} ${pasteForm(model)}
    ${part(
      "Added here",
      "They are served without a deployment. A draft serves nobody until you have it served.",
      html`${listOf(
        added.map((each) => addedEntry(each, model)),
        "No server has been added here.",
      )}
      ${added.length > 0 && html`<p><a class="button" href="${PATHS.exportServers}">Export as TOML</a></p>`}`,
    )}
    ${part(
      "In MCP_SERVERS",
      "They are changed where the gateway is configured. An entry there wins over one that was added here under the same slug.",
      html`${others.length > 0 && entryNotices(others)}
      ${listOf(
        configured.map(
          (each) =>
            html`<li class="entry">
              <h3>${link(each.slug, each.label)} ${healthBadge(each)}</h3>
            </li>`,
        ),
        "No server is configured there.",
      )}`,
    )}
  `;
  return { title: "Servers", body, width: "wide", kind: "site", nav, sendsOnce: true };
}

function pasteForm({ csrf, mistake, allowsLoopback, signIn }: AdminServersView): Html {
  if (signIn !== undefined) {
    return part(
      "Add a server",
      "This takes a sign-in of the last minutes.",
      html`<p><a class="button" href="${signIn}">Sign in again</a></p>`,
    );
  }
  return part(
    "Add a server",
    "Paste its address, the servers of a client’s settings (mcpServers), or a server.json of the registry. You see what would be added before anything is kept or sent.",
    html`<form method="post" action="${PATHS.adminServers}" class="create">
      ${hidden({ csrf })}
      <label for="text">Address or JSON</label>
      <p class="small" id="text-hint">${addressNote(allowsLoopback)}</p>
      ${mistake !== undefined && html`<p class="error" id="text-error" role="alert">${foreign(mistake, "", 600)}</p>`}
      <textarea
        class="field"
        id="text"
        name="text"
        rows="4"
        required
        spellcheck="false"
        autocomplete="off"
        aria-describedby="${mistake !== undefined && "text-error "}text-hint"
        ${mistake !== undefined && html`aria-invalid="true"`}
      ></textarea>
      <button class="primary">Read it</button>
    </form>`,
  );
}

function addedEntry(
  { slug, label, state, changedAt, probe }: AddedServer,
  { now, health, notices, overridden }: AdminServersView,
): Html {
  const isOverridden = overridden.includes(slug);
  const known = isOverridden ? undefined : health.find((each) => each.slug === slug);
  const wrong = state === "live" ? notices.find((each) => each.slug === slug)?.sentences : [];
  const sentences = isOverridden ? [OVERRIDDEN] : (wrong ?? []);
  return html`<li class="entry">
    <h3>${link(slug, label)} ${stateBadge(state, isOverridden)} ${known && healthBadge(known)}</h3>
    ${sentences.map((sentence) => html`<p>${foreign(sentence, "", 600)}</p>`)}
    <p class="small">
      Changed
      ${when(changedAt, now)}${probe === undefined && state === "draft" && " · not looked at yet"}
    </p>
  </li>`;
}

function link(slug: string, label: string | undefined): Html {
  return html`<a href="${adminServerPath(slug)}"
    >${label !== undefined && html`${foreign(label, slug)} · `}${foreign(slug, "?")}</a
  >`;
}

/** An address without its query, which may have a secret in it. */
export function addressText(url: unknown): Html {
  if (typeof url !== "string") return html`none`;
  const [address = "", ...query] = url.split("?");
  return exactText(address + (query.length > 0 ? "?…" : ""));
}
