/** The list of what needs somebody: what, since when, and one link that mends it. */

import type { AttentionItem, AttentionKind } from "../operator/attention-item.ts";
import { type Html, html } from "./html.ts";
import { badge, type BadgeLook, foreign, part } from "./parts.ts";
import { when } from "./time.ts";

const LABELS: Readonly<Record<AttentionKind, readonly [label: string, look: BadgeLook]>> = {
  "sign-in": ["Sign-in needed", "bad"],
  secret: ["Secret missing", "bad"],
  configuration: ["Configuration", "bad"],
  unreachable: ["Not reachable", "bad"],
  login: ["Login trouble", "warn"],
  conflict: ["Conflict", "warn"],
  offline: ["Offline", "warn"],
  unused: ["Not used", ""],
};
/** Our sentences contain names of keys and slugs. */
const MAX_WHAT = 600;
const MAX_SUBJECT = 100;

export function attentionSection(items: readonly AttentionItem[], now: number): Html {
  if (items.length === 0) return part("Needs you", undefined, html`<p>Nothing needs you.</p>`);
  return part(
    "Needs you",
    "Each of these is gone once it is mended.",
    html`<ol class="entries">
      ${items.map((item) => entryOf(item, now))}
    </ol>`,
  );
}

function entryOf({ kind, subject, what, since, link, remedy }: AttentionItem, now: number): Html {
  const name = foreign(subject, "?", MAX_SUBJECT);
  return html`<li class="entry">
    <h3>${name} ${badge(...LABELS[kind])}</h3>
    <p>${foreign(what, "", MAX_WHAT)}</p>
    <p class="small">
      ${since === undefined ? "Since this configuration is in force" : html`Began ${when(since, now)}`}
    </p>
    <div class="action">
      <a class="button" href="${link}">${remedy}<span class="unseen">: ${name}</span></a>
    </div>
  </li>`;
}
