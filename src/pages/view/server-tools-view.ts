/** The part of a server's page about its tools: which are hidden, by what, and a button that denies one or allows it. */

import type { HidingRule } from "../../policy/item-policy.ts";
import { asciiJson } from "../schema/ascii-json.ts";
import {
  effectBadge,
  type ItemRow,
  itemTitle,
  type ListPlace,
  pager,
  searchForm,
} from "./catalog-parts.ts";
import { type Html, html } from "./html.ts";
import { actionButton, badge, exactText, foreign, notice } from "./parts.ts";
import { adminServerPath, denyToolPath } from "./paths.ts";

export interface ServerTools extends ListPlace {
  /** `false` where nobody knows what the server lists, or this person has no account there. */
  readonly isKnown: boolean;
  readonly rows: readonly ToolRow[];
  readonly deniedCount: number;
}

export interface ToolRow extends ItemRow {
  readonly isListed: boolean;
  /** By an operator, on this page. */
  readonly isDenied: boolean;
  /** By the configuration. */
  readonly hiddenBy: HidingRule | undefined;
}

interface ToolForms {
  readonly slug: string;
  readonly csrf: string;
  /** Of the switch. */
  readonly revision: number;
  /** The sentence on the action that has just succeeded. */
  readonly notice: string | undefined;
}

const ANCHOR = "#tools";

/** The page of a server, with this part in view. */
export function toolsPath(slug: string, { query, page }: Omit<ListPlace, "pages">): string {
  const parameters = new URLSearchParams({
    ...(query !== "" && { q: query }),
    ...(page > 1 && { page: String(page) }),
  });
  return `${adminServerPath(slug)}?${parameters.toString()}${ANCHOR}`;
}

export function toolsSection(tools: ServerTools, forms: ToolForms): Html {
  const { query, rows, pages, isKnown, deniedCount } = tools;
  const path = adminServerPath(forms.slug);
  return html`<section class="stop part" id="tools">
    <h2>Tools</h2>
    <p class="small">
      A tool that is denied here is in no list, and nobody can call it. What the configuration hides
      can be allowed there alone. ${deniedCount > 0 && html`Denied here: ${deniedCount}.`}
    </p>
    ${notice(forms.notice)}
    ${
      !isKnown &&
      html`<p class="note warn">
        What it lists is not known: it does not answer, or you have no account there.
      </p>`
    }
    ${(query !== "" || pages > 1) && searchForm(`${path}${ANCHOR}`, query, "Search its tools")}
    ${
      rows.length === 0 &&
      isKnown &&
      html`<p class="empty" role="status">
        ${query === "" ? "It lists no tools." : html`Nothing has ${foreign(query, "that", 200)} in it.`}
      </p>`
    }
    ${
      rows.length > 0 &&
      html`<ul class="entries">
        ${rows.map((row) => toolEntry(row, tools, forms))}
      </ul>`
    }
    ${pager(path, tools, ANCHOR)}
  </section>`;
}

function toolEntry(row: ToolRow, place: ListPlace, forms: ToolForms): Html {
  const { name, title, isListed, isDenied, hiddenBy } = row;
  // What the configuration hides needs no denial; one that there is already can be taken back.
  const action = (isDenied || hiddenBy === undefined) && toolButton(row, place, forms);
  return html`<li class="entry">
    <h3>
      ${itemTitle(row)} ${isListed ? effectBadge(row) : badge("Not listed")}
      ${isDenied && badge("Denied", "bad")} ${hiddenBy !== undefined && badge("Hidden", "warn")}
    </h3>
    ${title !== name && html`<p class="small">${exactText(name)}</p>`}
    ${hiddenBy !== undefined && html`<p class="small">${ruleSentence(hiddenBy)}</p>`}
    ${action !== false && html`<div class="action">${action}</div>`}
  </li>`;
}

function ruleSentence(rule: HidingRule): Html {
  return rule === "allow"
    ? html`The configuration hides it: nothing in <code>tools.allow</code> fits.`
    : html`The configuration hides it: <code>tools.deny</code> has
        <code>${exactText(rule.pattern)}</code>.`;
}

function toolButton({ name, isDenied }: ToolRow, place: ListPlace, forms: ToolForms): Html {
  const { slug, csrf, revision } = forms;
  return actionButton({
    ...{ action: denyToolPath(slug), label: isDenied ? "Allow again" : "Deny", about: name },
    fields: {
      // Marks of writing direction are taken out of every value of a page, and this is the very name.
      ...{ csrf, tool: asciiJson(name) },
      ...{ to: isDenied ? "allowed" : "denied", revision: String(revision) },
      ...{ q: place.query, page: String(place.page) },
    },
  });
}
