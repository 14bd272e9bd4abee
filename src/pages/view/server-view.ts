/** `/catalog/<slug>`: all that a person may use of one server, page by page. */

import type { ItemKind } from "../console/console.ts";
import { CATALOG_STYLE } from "./catalog-style.ts";
import {
  askedNote,
  countsOf,
  isListed,
  itemEntry,
  type ItemRow,
  KIND_WORDS,
  type ListPlace,
  pager,
  prose,
  searchForm,
  type ServerHead,
  ownBadge,
  stateBadge,
  stateNotes,
} from "./catalog-parts.ts";
import { html } from "./html.ts";
import type { View } from "./layout.ts";
import { exactText, foreign, part } from "./parts.ts";
import { catalogPath, PATHS } from "./paths.ts";

export interface ServerView extends ListPlace {
  readonly nav: NonNullable<View["nav"]>;
  readonly server: ServerHead;
  /** The server's own words to the clients. */
  readonly instructions: string | undefined;
  readonly rows: readonly ItemRow[];
}

export function serverView(model: ServerView): View {
  const { nav, server, query, rows, instructions } = model;
  const { slug, title, version } = server;
  const kinds = [...new Set(rows.map(({ kind }) => kind))];
  const body = html`
    <p class="small back"><a href="${PATHS.catalog}">Catalog</a></p>
    <h1>${foreign(title, slug)} ${ownBadge(server)} ${stateBadge(server)}</h1>
    <p class="lede">
      ${exactText(slug)}${version !== undefined && html` · ${foreign(version, "")}`}${
        isListed(server) && html` · ${countsOf(server)}`
      }
    </p>
    ${stateNotes(server)} ${server.state === "asked" && askedNote("This server has")}
    ${
      instructions !== undefined &&
      html`<details class="sure">
        <summary>What it tells applications</summary>
        <p class="note">${prose(instructions)}</p>
      </details>`
    }
    ${searchForm(catalogPath(slug), query, "Search this server")}
    ${
      rows.length === 0 &&
      query !== "" &&
      isListed(server) &&
      html`<p class="empty" role="status">Nothing has ${foreign(query, "that", 200)} in it.</p>`
    }
    ${kinds.map((kind) =>
      part(
        titleOf(kind),
        undefined,
        html`<ul class="entries">
          ${rows.filter((row) => row.kind === kind).map((row) => itemEntry(row, slug))}
        </ul>`,
      ),
    )}
    ${pager(catalogPath(slug), model)}
  `;
  return { title: slug, body, width: "wide", kind: "site", nav, style: CATALOG_STYLE };
}

/** `Resource templates`. */
function titleOf(kind: ItemKind): string {
  const [, many] = KIND_WORDS[kind];
  return many.slice(0, 1).toUpperCase() + many.slice(1);
}
