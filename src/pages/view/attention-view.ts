/** The list of what needs somebody: what, since when, and one link that mends it. */

import type { AskedKind, AttentionItem, AttentionKind } from "../operator/attention-item.ts";
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
const NOT_KNOWN: Readonly<Record<AskedKind, string>> = {
  "sign-in": "Whether an account has to be connected again is not known at the moment.",
  offline: "Whether a server that you publish is offline is not known at the moment.",
};
/** Our sentences contain names of keys and slugs. */
const MAX_WHAT = 600;
const MAX_SUBJECT = 100;

interface AttentionModel {
  readonly items: readonly AttentionItem[];
  readonly notKnown: readonly AskedKind[];
  readonly now: number;
}

export function attentionSection({ items, notKnown, now }: AttentionModel): Html {
  const gaps =
    notKnown.length > 0 &&
    html`<p class="note warn">
      ${notKnown.map((kind) => html`${NOT_KNOWN[kind]} `)}Load this page again in a moment.
    </p>`;
  if (items.length === 0) {
    return part("Needs you", undefined, gaps === false ? html`<p>Nothing needs you.</p>` : gaps);
  }
  return part(
    "Needs you",
    "Each of these is gone once it is mended.",
    html`${gaps}
      <ol class="entries">
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
