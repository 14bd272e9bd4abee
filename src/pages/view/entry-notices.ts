/** The entries of `MCP_SERVERS` that are not served as they are written, for whoever runs the gateway. */

import type { EntryNotice, EntryState } from "../../observability/health.ts";
import { type Html, html } from "./html.ts";
import { badge, type BadgeLook, foreign } from "./parts.ts";

const LABELS: Readonly<Record<EntryState, readonly [look: BadgeLook, label: string]>> = {
  misconfigured: ["bad", "Not served"],
  stdio: ["warn", "Needs a machine"],
  off: ["", "Switched off"],
  "partly-read": ["warn", "Unknown keys"],
};
/** Our sentences contain names of keys. */
const MAX_SENTENCE = 600;

/**
 * What is served has no mistake: a mistake under its slug is that of an added server, which the entry overrides. The
 * part about that server says so.
 */
export function noticesOfEntries(
  notices: readonly EntryNotice[],
  served: ReadonlySet<string>,
): readonly EntryNotice[] {
  return notices.filter(
    ({ slug, state }) => state !== "misconfigured" || slug === undefined || !served.has(slug),
  );
}

export function entryNotices(notices: readonly EntryNotice[]): Html {
  return html`<ul class="entries">
    ${notices.map(({ name, state, sentences }) => {
      const [look, label] = LABELS[state];
      return html`<li class="entry">
        <h3>${foreign(name, "?")} ${badge(label, look)}</h3>
        ${sentences.map((sentence) => html`<p>${foreign(sentence, "", MAX_SENTENCE)}</p>`)}
      </li>`;
    })}
  </ul>`;
}
