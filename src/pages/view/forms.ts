/** Buttons that change something: each is a form of its own, sent with POST and a CSRF token. */

import { cleanText } from "../../lib/clean-text.ts";
import { type Html, html } from "./html.ts";

export type HiddenFields = Readonly<Record<string, string>>;

export interface ActionButton {
  readonly action: string;
  readonly label: string;
  /**
   * The object of the action, for people to whom a screen reader reads the label alone; cleaned
   * here.
   */
  readonly about?: string;
  readonly fields: HiddenFields;
  readonly look?: "primary" | "danger" | "link";
}

export function hidden(fields: HiddenFields): Html {
  return html`${Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  )}`;
}

export function actionButton({ action, label, about, fields, look }: ActionButton): Html {
  return html`<form method="post" action="${action}">
    ${hidden(fields)}<button class="${look ?? "plain"}">
      ${label}${about !== undefined && html`<span class="unseen"> ${cleanText(about)}</span>`}
    </button>
  </form>`;
}
