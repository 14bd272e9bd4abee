/** The page of all servers, for whoever runs the gateway: those that are configured, those that were added, and a form for more. */

import type { AddedServer, AddedState } from "../../observability/added-servers.ts";
import type { EntryNotice, ServerHealth } from "../../observability/health.ts";
import { addressNote } from "./added-server-parts.ts";
import { entryNotices } from "./entry-notices.ts";
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
  /** The gateway runs on this machine. */
  readonly allowsLoopback: boolean;
  readonly notices: readonly EntryNotice[];
  /** Why what was pasted could not be read. */
  readonly mistake: string | undefined;
  readonly notice: string | undefined;
}

export const STATE_BADGES: Readonly<Record<AddedState, readonly [label: string, look: BadgeLook]>> =
  {
    draft: ["Draft", "warn"],
    live: ["Served", "good"],
    paused: ["Paused", ""],
  };

export function adminServersView(model: AdminServersView): View {
  const { added, health, notices, nav } = model;
  const slugs = new Set(added.map(({ slug }) => slug));
  const configured = health.filter(({ slug }) => !slugs.has(slug));
  const others = notices.filter(({ slug }) => slug === undefined || !slugs.has(slug));
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
  return { title: "Servers", body, width: "wide", kind: "site", nav };
}

function pasteForm({ csrf, mistake, allowsLoopback }: AdminServersView): Html {
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
  { now, health, notices }: AdminServersView,
): Html {
  const [word, look] = STATE_BADGES[state];
  const known = health.find((each) => each.slug === slug);
  const wrong = state === "live" && notices.find((each) => each.slug === slug);
  return html`<li class="entry">
    <h3>${link(slug, label)} ${badge(word, look)} ${known && healthBadge(known)}</h3>
    ${wrong && wrong.sentences.map((sentence) => html`<p>${foreign(sentence, "", 600)}</p>`)}
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
