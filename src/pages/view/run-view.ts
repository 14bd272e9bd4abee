/** The run of a tool: the second click, what happens while it runs, what it asks, and what it gave. */

import { isJsonNumber, textOfNumber } from "../../lib/lossless-json.ts";
import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { Field, Typed } from "../schema/form-fields.ts";
import { itemTitle, prose } from "./catalog-parts.ts";
import { CATALOG_STYLE } from "./catalog-style.ts";
import { fieldsView } from "./fields-view.ts";
import { type Html, html } from "./html.ts";
import { HOLE, type View } from "./layout.ts";
import { actionButton, exactText, foreign, hidden, type HiddenFields } from "./parts.ts";
import { catalogPath } from "./paths.ts";
import { resultView, textBlock } from "./result-view.ts";
import { effectSentence, type ToolPage, toolHead } from "./tool-view.ts";

export interface RunView {
  readonly page: ToolPage;
  /** The arguments. */
  readonly values: JsonObject;
  /** The same, for the next form. */
  readonly json: string;
}

/** Nothing has been sent yet. */
export function confirmView(run: RunView): View {
  const { page, json } = run;
  const { server, tool } = page;
  const name = html`${itemTitle(tool)} at ${foreign(server.title, server.slug)}`;
  const confirmed = framed(
    page,
    html`<section class="stop part warn">
        <h2>Run ${name}?</h2>
        <p>${effectSentence(tool)} Nothing has been sent yet.</p>
        ${given(run)}
        <form method="post" action="${pathOf(page)}">
          ${hidden({ csrf: page.csrf, arguments: json, sure: "1" })}
          <button class="danger">Run ${name}</button>
        </form>
      </section>
      ${changeForm(run, "Change it")}`,
  );
  return { ...confirmed, sendsOnce: true };
}

/** @param content of a page that is whole; without it, the page is sent while the tool runs. */
export function runView(run: RunView, content?: Html): View {
  const running = html`<section class="stop part">
      <h2>What it was given</h2>
      ${given(run)}
    </section>
    <div class="run">
      ${
        content ??
        html`<p class="running" role="status">Running …</p>
          ${HOLE}`
      }
    </div>`;
  return { ...framed(run.page, html`${running} ${changeForm(run)}`), hasSound: true };
}

function framed(page: ToolPage, content: Html): View {
  const body = html`${toolHead(page.server, page.tool)} ${content}`;
  const { nav, tool } = page;
  return { title: tool.name, body, width: "wide", kind: "site", nav, style: CATALOG_STYLE };
}

function pathOf({ server, tool }: ToolPage): string {
  return catalogPath(server.slug, tool.name);
}

function given({ values }: RunView): Html {
  return Object.keys(values).length === 0
    ? html`<p class="empty">Nothing.</p>`
    : textBlock(JSON.stringify(values, null, 2));
}

function changeForm({ page, json }: RunView, label = "Change and run again"): Html {
  return html`<div class="stop last">
    ${actionButton({
      action: pathOf(page),
      label,
      fields: { csrf: page.csrf, arguments: json, edit: "1" },
    })}
  </div>`;
}

export function progressView({ progress, total, message }: JsonObject): Html {
  const count = isJsonNumber(progress) ? textOfNumber(progress) : "";
  const of = isJsonNumber(total) ? ` of ${textOfNumber(total)}` : "";
  return html`<p class="progress">
    ${count}${of}${typeof message === "string" && html` · ${foreign(message, "", 300)}`}
  </p>`;
}

export function outcomeView(result: JsonObject, ms: number, bytes: number): Html {
  const hasFailed = result["isError"] === true;
  return html`<section class="stop part ${hasFailed ? "bad" : "good"}">
    <h2>${hasFailed ? "The tool says that it failed" : "What it gave"}</h2>
    <p class="small">${ms} ms · ${bytes} bytes</p>
    ${resultView(result)}
  </section>`;
}

export function failureView(message: string, code?: number): Html {
  return html`<section class="stop part bad">
    <h2>It did not run to its end</h2>
    ${textBlock(message)}${code !== undefined && html`<p class="small">Error ${code}</p>`}
  </section>`;
}

interface ShownQuestion {
  readonly message: string;
  readonly prefix: string;
  readonly fields: readonly Field[];
  readonly url: string | undefined;
}

export interface QuestionsView {
  readonly questions: readonly ShownQuestion[];
  /** The same, for the next form. */
  readonly json: string;
  /** The `requestState`. */
  readonly state: string | null;
  readonly typed: Typed;
  readonly errors: ReadonlyMap<Field, string>;
}

export function questionsView({ page, json }: RunView, model: QuestionsView): Html {
  const { questions, state, typed, errors } = model;
  const fields: HiddenFields = {
    ...{ csrf: page.csrf, arguments: json, sure: "1", questions: model.json },
    ...(state !== null && { state }),
  };
  return html`<section class="stop part warn">
    <h2>${foreign(page.server.title, page.server.slug)} asks</h2>
    <form method="post" action="${pathOf(page)}">
      ${hidden(fields)}
      ${questions.map(
        ({ message, url, ...own }) =>
          html`<p>${prose(message)}</p>
            ${url !== undefined && visit(url)} ${fieldsView({ ...own, typed, errors })}`,
      )}
      <div class="answers">
        <button class="primary" name="action" value="accept">Answer</button>
        <button name="action" value="decline" formnovalidate>Decline</button>
      </div>
    </form>
  </section>`;
}

function visit(url: string): Html {
  return html`<p>
    Open <a href="${url}" target="_blank" rel="noopener noreferrer">${exactText(url)}</a>, and
    answer when you are done there.
  </p>`;
}
