/** Lines of the audit log, as the user reads them. */

import { type Html, html } from "./html.ts";
import { foreign } from "./parts.ts";
import { when } from "./time.ts";

export interface ActivityLine {
  readonly at: number;
  /** A sentence of our own, e.g. `Signed in with GitHub`. */
  readonly what: string;
  /** The subject of the action, in its own words. */
  readonly detail: string | undefined;
  readonly isDenial: boolean;
}

export function activityList(lines: readonly ActivityLine[], now: number): Html {
  if (lines.length === 0) return html`<p class="empty">Nothing has happened yet.</p>`;
  return html`<ol class="activity">
    ${lines.map(
      ({ at, what, detail, isDenial }) =>
        html`<li class="${isDenial ? "bad" : "plain"}">
          <span class="small">${when(at, now)}</span
          ><span
            >${isDenial && html`<b>Denied</b> · `}${what}${
              detail !== undefined && html` · ${foreign(detail, "")}`
            }</span
          >
        </li>`,
    )}
  </ol>`;
}
