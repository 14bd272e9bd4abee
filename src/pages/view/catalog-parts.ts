/** The vocabulary of the catalog: a server with its state, an item, and a schema as a table. */

import { connectPath } from "../../accounts/addresses.ts";
import type { ServerAuth } from "../../accounts/settings.ts";
import { cleanProse } from "../../lib/clean-text.ts";
import type { ToolEffect } from "../../protocol/tool-effect.ts";
import { type ConsoleServer, ITEM_KINDS, type ItemKind } from "../console/console.ts";
import type { SchemaRow } from "../schema/schema-rows.ts";
import { type Html, html } from "./html.ts";
import { badge, type BadgeLook, exactText, foreign } from "./parts.ts";
import { adminServerPath, catalogPath } from "./paths.ts";

/** What every page says of a server. */
export interface ServerHead {
  readonly slug: string;
  readonly title: string;
  readonly version: string | undefined;
  readonly counts: Readonly<Record<ItemKind, number>>;
  readonly notes: readonly string[];
  readonly state: ConsoleServer["state"];
  /** By what it knows its callers, where that is an account. */
  readonly auth: ServerAuth["kind"] | undefined;
  readonly isForAdmin: boolean;
  /** The person publishes it. */
  readonly isOwn: boolean;
}

export interface ItemRow {
  readonly kind: ItemKind;
  /** The server's own name, URI or URI template. */
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly mimeType: string | undefined;
  /** Of a tool. */
  readonly effect: ToolEffect | undefined;
  /** The server itself says which effect it has. */
  readonly isStated: boolean;
  /** Of a prompt. */
  readonly parameters: readonly string[];
}

export const KIND_WORDS: Record<ItemKind, readonly [one: string, many: string]> = {
  tools: ["tool", "tools"],
  prompts: ["prompt", "prompts"],
  resources: ["resource", "resources"],
  templates: ["resource template", "resource templates"],
};

const MAX_NAME = 300;
const MAX_SUMMARY = 240;

/** `12 tools · 1 prompt`. */
export function countsOf({ counts }: ServerHead): string {
  const words = ITEM_KINDS.filter((kind) => counts[kind] > 0).map(
    (kind) => `${counts[kind]} ${KIND_WORDS[kind][counts[kind] === 1 ? 0 : 1]}`,
  );
  return words.length === 0 ? "Nothing that you may use" : words.join(" · ");
}

const STATES: Record<ServerHead["state"], readonly [label: string, look: BadgeLook] | undefined> = {
  well: undefined,
  failing: ["In trouble", "warn"],
  down: ["Not available", "bad"],
  asked: ["Being asked", ""],
  unconnected: ["Not connected", "warn"],
};

export function stateBadge(server: ServerHead): Html | undefined {
  const words = stateWords(server);
  return words && badge(...words);
}

export function stateWords({ state, auth }: ServerHead): (typeof STATES)[ServerHead["state"]] {
  // Nobody connects the gateway's own account.
  const isOwn = state === "unconnected" && auth === "client-credentials";
  return STATES[isOwn ? "down" : state];
}

/** Of a server that the person publishes. */
export function ownBadge({ isOwn }: Pick<ServerHead, "isOwn">): Html | false {
  return isOwn && badge("Only yours", "");
}

/** What it offers is known. */
export function isListed({ state }: Pick<ServerHead, "state">): boolean {
  return state === "well" || state === "failing";
}

/** @param who has not said yet what there is: the subject of the sentence. */
export function askedNote(who: string): Html {
  return html`<p class="note" role="status">
    ${who} not said yet what can be used there. <a href="">Load this page again</a> in a moment.
  </p>`;
}

/** Why a server has less to show than it could, and what helps. */
export function stateNotes(server: ServerHead): Html {
  const { notes, state } = server;
  return html`${state === "unconnected" && html`<div class="note warn">${missingAccount(server)}</div>`}${
    notes.length > 0 &&
    html`<ul class="note warn">
      ${notes.map((each) => html`<li>${each}</li>`)}
    </ul>`
  }`;
}

function missingAccount({ slug, title, auth, isForAdmin }: ServerHead): Html {
  const name = foreign(title, slug);
  if (auth === "client-credentials") {
    return html`<p>
        ${name} cannot be used now. The gateway’s own account there does not work.
        ${!isForAdmin && "Whoever runs this gateway can mend it."}
      </p>
      ${isForAdmin && html`<p><a href="${adminServerPath(slug)}">See why</a></p>`}`;
  }
  if (auth === "oauth-shared" && !isForAdmin) {
    return html`<p>
      ${name} is used with one account for all, which an administrator has to connect.
    </p>`;
  }
  return html`<p>${name} shows what it has once you have connected your account there.</p>
    <p><a href="${connectPath(slug)}">Connect your account</a></p>`;
}

const EFFECTS: Record<ToolEffect, readonly [label: string, look: BadgeLook]> = {
  read: ["Reads", "good"],
  write: ["Writes", "warn"],
  destructive: ["Can destroy", "bad"],
};

/** A tool that says nothing counts as one that can destroy. */
export function effectBadge({ effect, isStated }: ItemRow): Html | undefined {
  if (effect === undefined) return undefined;
  return isStated ? badge(...EFFECTS[effect]) : badge("Effect not stated", "warn");
}

export function itemTitle({ title, name }: Pick<ItemRow, "title" | "name">): Html {
  return foreign(title, name, MAX_NAME);
}

export function itemEntry(row: ItemRow, slug: string): Html {
  const { kind, name, title, description, mimeType, parameters } = row;
  const shown = itemTitle(row);
  return html`<li class="entry">
    <h3>
      ${kind === "tools" ? html`<a href="${catalogPath(slug, name)}">${shown}</a>` : shown}
      ${effectBadge(row)}
    </h3>
    ${title !== name && html`<p class="small">${exactText(name)}</p>`}
    ${description !== undefined && html`<p class="small">${foreign(description, "", MAX_SUMMARY)}</p>`}
    ${mimeType !== undefined && html`<p class="small">Type: ${exactText(mimeType)}</p>`}
    ${
      parameters.length > 0 &&
      html`<p class="small">Asks for: ${exactText(parameters.join(", "))}</p>`
    }
  </li>`;
}

/** @param path of the page itself. */
export function searchForm(path: string, query: string, label: string): Html {
  return html`<form method="get" action="${path}" class="search" role="search">
    <label for="q">${label}</label>
    <span class="row"
      ><input
        class="field"
        type="search"
        id="q"
        name="q"
        value="${query}"
        maxlength="200"
        autocomplete="off"
        spellcheck="false"
      /><button class="plain">Search</button></span
    >
  </form>`;
}

/** The part of a list that a page shows. */
export interface ListPlace {
  readonly query: string;
  /** From 1 on. */
  readonly page: number;
  readonly pages: number;
}

/** @param path of the page itself. @param anchor where the list stands in it. */
export function pager(path: string, { query, page, pages }: ListPlace, anchor = ""): Html {
  if (pages === 1) return html``;
  const link = (to: number, label: string): Html => {
    const parameters = new URLSearchParams({ ...(query !== "" && { q: query }), page: String(to) });
    return html`<a href="${path}?${parameters.toString()}${anchor}">${label}</a>`;
  };
  return html`<nav class="pager" aria-label="Parts of this list">
    ${page > 1 && link(page - 1, "Previous")}
    <span>Page ${page} of ${pages}</span>
    ${page < pages && link(page + 1, "Next")}
  </nav>`;
}

const MAX_PROSE = 8000;

/** The words of a server, with their lines. */
export function prose(text: string): Html {
  const clean = cleanProse(text);
  return html`<bdi class="prose"
    >${clean.length > MAX_PROSE ? `${clean.slice(0, MAX_PROSE)}…` : clean}</bdi
  >`;
}

const MAX_DESCRIPTION = 600;

/** @param empty the sentence for a schema without members. */
export function schemaTable(rows: readonly SchemaRow[], label: string, empty: string): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  return html`<table class="schema" aria-label="${label}">
    <thead>
      <tr>
        <th scope="col">Name</th>
        <th scope="col">Type</th>
        <th scope="col">Meaning</th>
      </tr>
    </thead>
    <tbody>
      ${rows.map(schemaRow)}
    </tbody>
  </table>`;
}

function schemaRow({ path, type, isRequired, description, rules }: SchemaRow): Html {
  return html`<tr>
    <th scope="row">
      <span class="host">${foreign(path, "", MAX_NAME)}</span>
      ${isRequired && html`<span class="small">required</span>`}
    </th>
    <td>${foreign(type, "", MAX_NAME)}</td>
    <td>
      ${description !== undefined && html`<p>${foreign(description, "", MAX_DESCRIPTION)}</p>`}
      ${rules.length > 0 && html`<p class="small">${foreign(rules.join("; "), "", MAX_DESCRIPTION)}</p>`}
    </td>
  </tr>`;
}
