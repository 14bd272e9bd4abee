/** Pieces that several views are made of. */

import { cleanText } from "../../lib/clean-text.ts";
import { type Html, html } from "./html.ts";
import { when } from "./time.ts";

const MAX_ADDRESS = 2048;

/** A stop on the line: one fact with its label. */
export function stop(
  label: string,
  content: Html,
  tone: "plain" | "warn" | "good" = "plain",
): Html {
  return html`<section class="stop ${tone}">
    <h2 class="label">${label}</h2>
    ${content}
  </section>`;
}

/** A part of a page that lists things. */
export function part(title: string, explanation: string | undefined, content: Html): Html {
  return html`<section class="stop part">
    <h2>${title}</h2>
    ${explanation !== undefined && html`<p class="small">${explanation}</p>`} ${content}
  </section>`;
}

/** The sentence on the action that has just succeeded, on the page to which its form redirects. */
export function notice(sentence: string | undefined): Html | undefined {
  return sentence === undefined
    ? undefined
    : html`<p class="note good" role="status">${sentence}</p>`;
}

/** Text from a stranger: cleaned, and isolated so that it cannot reorder the text around it. */
export function foreign(text: string, fallback: string, maxLength?: number): Html {
  const clean = cleanText(text, maxLength);
  return html`<bdi>${clean === "" ? fallback : clean}</bdi>`;
}

export function clientName(name: string): Html {
  return foreign(name, "An application without a name");
}

/**
 * The verification of a client's identity: that of a client whose id is a URL is as good as that
 * host, and any other is not checked.
 */
export function verification(verifiedHost: string | undefined): Html {
  return verifiedHost === undefined
    ? html`<span class="badge">Unverified application</span>`
    : html`<span class="badge good">Verified host <b>${exactText(verifiedHost)}</b></span>`;
}

/** A host, a URL or an identifier: every character visible. */
export function exactText(text: string): Html {
  return html`<span class="host">${cleanText(text, MAX_ADDRESS)}</span>`;
}

/** A list of entries, or a sentence for an empty list. */
export function listOf(entries: readonly Html[], empty: string): Html {
  if (entries.length === 0) return html`<p class="empty">${empty}</p>`;
  return html`<ul class="entries">
    ${entries}
  </ul>`;
}

export interface DescriptionEntry {
  readonly title: Html;
  readonly facts: readonly Fact[];
  readonly action?: Html | undefined;
  /** An action with a confirmation. */
  readonly question?: Html | undefined;
}
export type Fact = readonly [label: string, value: Html | string];

export function entry({ title, facts, action, question }: DescriptionEntry): Html {
  return html`<li class="entry">
    <h3>${title}</h3>
    <dl class="facts">
      ${facts.map(
        ([label, value]) =>
          html`<div>
            <dt>${label}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
    ${action !== undefined && html`<div class="action">${action}</div>`} ${question}
  </li>`;
}

export function lastUse(at: number | undefined, now: number): Fact {
  return ["Last used", at === undefined ? "not yet" : when(at, now)];
}

/** A secret to be copied and stored; a click selects all of it. */
export function secretValue(label: string, text: string): Html {
  return html`<p class="secret" role="group" aria-label="${label}"><code>${text}</code></p>`;
}

/**
 * Content with a button to copy it, on a page with `COPY_SCRIPT`.
 *
 * @param what the name of the content, for the button.
 */
export function copyable(what: string, content: Html): Html {
  return html`<div class="copyable" data-copy="${what}">${content}</div>`;
}
