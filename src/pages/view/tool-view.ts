/** `/catalog/<slug>/<tool>`: one tool, with what it takes and what it gives. */

import type { SchemaRow } from "../schema/schema-rows.ts";
import {
  effectBadge,
  type ItemRow,
  itemTitle,
  prose,
  schemaTable,
  type ServerHead,
  stateNotes,
} from "./catalog-parts.ts";
import { CATALOG_STYLE } from "./catalog-style.ts";
import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import { type FieldSet, fieldsView } from "./fields-view.ts";
import { exactText, factList, foreign, hidden, notice, part } from "./parts.ts";
import { catalogPath, PATHS } from "./paths.ts";

/** What every page of a tool says of it. */
export interface ToolPage {
  readonly nav: NonNullable<View["nav"]>;
  /** The token of the session, in every form. */
  readonly csrf: string;
  readonly server: ServerHead;
  readonly tool: ItemRow;
  /** Its name at `/mcp`. */
  readonly publicName: string | undefined;
}

export interface ToolView extends ToolPage {
  readonly notice: string | undefined;
  readonly form: FieldSet;
  readonly input: readonly SchemaRow[];
  /** Absent where the server does not say it. */
  readonly output: readonly SchemaRow[] | undefined;
}

export function toolView(model: ToolView): View {
  const { nav, server, tool, input, output } = model;
  const body = html`
    ${toolHead(server, tool)} ${notice(model.notice)} ${stateNotes(server)}
    ${tool.description !== undefined && html`<p>${prose(tool.description)}</p>`} ${facts(model)}
    ${tryForm(model)}
    ${part("What it takes", undefined, schemaTable(input, "What it takes", "It takes nothing."))}
    ${
      output !== undefined &&
      part(
        "What it gives",
        undefined,
        schemaTable(output, "What it gives", "The server does not say more."),
      )
    }
  `;
  return {
    title: tool.name,
    body,
    width: "wide",
    kind: "site",
    nav,
    style: CATALOG_STYLE,
    sendsOnce: true,
  };
}

function tryForm({ csrf, server, tool, form }: ToolView): Html {
  return html`<section class="stop part good">
    <h2>Try it</h2>
    <p class="small">
      It runs as you, with your rights and limits.
      ${tool.effect !== "read" && "You are asked once more before anything is sent."}
    </p>
    ${
      form.errors.size > 0 &&
      html`<p class="error" role="alert">Something is not right yet. Nothing has been sent.</p>`
    }
    <form method="post" action="${catalogPath(server.slug, tool.name)}">
      ${hidden({ csrf })} ${fieldsView(form)}
      <button class="primary">${tool.effect === "read" ? "Run" : "Continue"}</button>
    </form>
  </section>`;
}

/** The way back, and the title. */
export function toolHead({ slug, title }: ServerHead, tool: ItemRow): Html {
  return html`<p class="small back">
      <a href="${PATHS.catalog}">Catalog</a> /
      <a href="${catalogPath(slug)}">${foreign(title, slug)}</a>
    </p>
    <h1>${itemTitle(tool)}</h1>
    <p class="lede">${exactText(tool.name)} ${effectBadge(tool)}</p>`;
}

function facts({ server, tool, publicName }: ToolPage): Html {
  return factList([
    ["Server", html`${foreign(server.title, server.slug)} (${exactText(server.slug)})`],
    ...(publicName === undefined ? [] : [["Name at /mcp", exactText(publicName)] as const]),
    ["Effect", effectSentence(tool)],
  ]);
}

export function effectSentence({ effect, isStated }: ItemRow): string {
  if (!isStated) {
    return "The server does not say whether it changes anything, so take it for one that can destroy.";
  }
  if (effect === "read") return "It reads, and changes nothing. So the server says.";
  return effect === "write"
    ? "It adds or changes, and destroys nothing. So the server says."
    : "It can change and destroy. So the server says.";
}
