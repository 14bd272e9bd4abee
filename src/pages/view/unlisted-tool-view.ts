/** `/catalog/<slug>/<tool>` while its server does not say which tools it has: nobody knows whether this is one. */

import { askedNote, ownBadge, type ServerHead, stateBadge, stateNotes } from "./catalog-parts.ts";
import { CATALOG_STYLE } from "./catalog-style.ts";
import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import { exactText, foreign, hidden } from "./parts.ts";
import { catalogPath, PATHS } from "./paths.ts";

export interface UnlistedToolView {
  readonly nav: NonNullable<View["nav"]>;
  /** The token of the session, in every form. */
  readonly csrf: string;
  readonly server: ServerHead;
  /** As the address has it. */
  readonly tool: string;
  /** The form that was sent here, to be sent again; absent where the page was only loaded. */
  readonly sent: readonly (readonly [name: string, value: string])[] | undefined;
}

export function unlistedToolView(model: UnlistedToolView): View {
  const { nav, server, tool } = model;
  const { slug, title } = server;
  const body = html`
    <p class="small back">
      <a href="${PATHS.catalog}">Catalog</a> /
      <a href="${catalogPath(slug)}">${foreign(title, slug)}</a>
    </p>
    <h1>${foreign(title, slug)} ${ownBadge(server)} ${stateBadge(server)}</h1>
    <p class="lede">${exactText(tool)}</p>
    ${stateNotes(server)} ${model.sent === undefined ? loadAgain(server) : sendAgain(model)}
  `;
  return { title: tool, body, width: "wide", kind: "site", nav, style: CATALOG_STYLE };
}

function loadAgain({ state }: ServerHead): Html {
  if (state === "asked") return askedNote("This server has");
  return html`<p class="note" role="status">
    This server does not say now which tools it has. <a href="">Load this page again</a> later.
  </p>`;
}

function sendAgain({ csrf, server: { slug }, tool, sent = [] }: UnlistedToolView): Html {
  return html`<section class="stop last">
    <p role="status">
      Nothing was sent to this server, since it does not say now which tools it has. What you
      entered is kept on this page: try again in a moment.
    </p>
    <form method="post" action="${catalogPath(slug, tool)}">
      ${hidden({ csrf })} ${sent.map(([name, value]) => hidden({ [name]: value }))}
      <button class="primary">Try again</button>
    </form>
  </section>`;
}
