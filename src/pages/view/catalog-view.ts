/** `/catalog`: every server, with the first of what a person may use there, or of what they look for. */

import { CATALOG_STYLE } from "./catalog-style.ts";
import {
  askedNote,
  countsOf,
  isListed,
  itemEntry,
  ownBadge,
  type ItemRow,
  searchForm,
  type ServerHead,
  stateBadge,
  stateNotes,
  stateWords,
} from "./catalog-parts.ts";
import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import { exactText, foreign } from "./parts.ts";
import { catalogPath, PATHS } from "./paths.ts";

export interface CatalogView {
  readonly nav: NonNullable<View["nav"]>;
  /** What the person looks for; empty for everything. */
  readonly query: string;
  readonly servers: readonly CatalogServer[];
  /** Those of which nobody knows whether they have what the person looks for. */
  readonly notSearched: readonly ServerHead[];
}

interface CatalogServer extends ServerHead {
  /** The first of them. */
  readonly rows: readonly ItemRow[];
  readonly foundCount: number;
}

export function catalogView({ nav, query, servers, notSearched }: CatalogView): View {
  const asked = servers.filter(({ state }) => state === "asked");
  const body = html`
    <h1>Catalog</h1>
    <p class="lede">What you can use through this gateway, server by server.</p>
    ${searchForm(PATHS.catalog, query, "Search names, titles and descriptions")}
    ${
      servers.length === 0 &&
      html`<p class="empty" role="status">
        ${
          query === ""
            ? "There is no server behind this gateway yet."
            : html`Nothing has ${foreign(query, "that", 200)} in it.
                <a href="${PATHS.catalog}">Show everything</a>`
        }
      </p>`
    }
    ${notSearched.length > 0 && notSearchedNote(notSearched)}
    ${asked.length > 0 && askedNote(asked.length === 1 ? "One server has" : `${asked.length} servers have`)}
    ${servers.map((server) => section(server, query))}
  `;
  return { title: "Catalog", body, width: "wide", kind: "site", nav, style: CATALOG_STYLE };
}

function notSearchedNote(servers: readonly ServerHead[]): Html {
  const named = servers.map(
    (server, n) =>
      html`${n > 0 && ", "}<a href="${catalogPath(server.slug)}"
          >${foreign(server.title, server.slug)}</a
        >
        (${stateWords(server)?.[0].toLowerCase()})`,
  );
  return html`<p class="note warn" role="status">Not searched: ${named}</p>`;
}

function section(server: CatalogServer, query: string): Html {
  const { slug, title, rows, foundCount, state } = server;
  const search = query === "" ? "" : `?${new URLSearchParams({ q: query }).toString()}`;
  const path = catalogPath(slug) + search;
  const look = state === "well" ? "good" : state === "asked" ? "" : "warn";
  const found = foundCount === 1 ? "1 match" : `${foundCount} matches`;
  return html`<section class="stop part ${look}">
    <h2><a href="${path}">${foreign(title, slug)}</a> ${ownBadge(server)} ${stateBadge(server)}</h2>
    <p class="small">
      ${exactText(slug)}${isListed(server) && html` · ${query === "" ? countsOf(server) : found}`}
    </p>
    ${stateNotes(server)}
    ${
      rows.length > 0 &&
      html`<ul class="entries">
        ${rows.map((row) => itemEntry(row, slug))}
      </ul>`
    }
    ${
      rows.length < foundCount &&
      html`<p><a href="${path}">Show all ${foundCount} of ${foreign(title, slug)}</a></p>`
    }
  </section>`;
}
