/** The vocabulary of all views: facts, lists, badges, notices, buttons, and text from strangers. */

import { cleanText } from "../../lib/clean-text.ts";
import { isLoopback } from "../../lib/loopback.ts";
import { type Html, html } from "./html.ts";
import { when } from "./time.ts";

/** The data that the lists of a signed-in person's page need. */
export interface PageContext {
  /** Milliseconds since the epoch, as all times are in views. */
  readonly now: number;
  /** The token of the session, in every form. */
  readonly csrf: string;
}

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

/** The last stop of a page: a link onward. */
export function lastStop(label: string, href: string, look: "plain" | "primary" = "plain"): Html {
  return html`<p class="stop last"><a class="button ${look}" href="${href}">${label}</a></p>`;
}

/** A part of a page that lists things. */
export function part(title: string, explanation: string | undefined, content: Html): Html {
  return html`<section class="stop part">
    <h2>${title}</h2>
    ${explanation !== undefined && html`<p class="small">${explanation}</p>`} ${content}
  </section>`;
}

/** The sentence on what has become of an action, on the page to which its form redirects. */
export function notice(sentence: string | undefined): Html {
  return html`${sentence !== undefined && html`<p class="note good" role="status">${sentence}</p>`}`;
}

export type BadgeLook = "" | "good" | "warn" | "bad";

export function badge(label: Html | string, look: BadgeLook = ""): Html {
  return html`<span class="badge ${look}">${label}</span>`;
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
    ? badge("Unverified application")
    : badge(html`Verified host <b>${exactText(verifiedHost)}</b>`, "good");
}

/** A host, a URL or an identifier: every character visible. */
export function exactText(text: string): Html {
  return html`<span class="host">${cleanText(text, MAX_ADDRESS)}</span>`;
}

export interface RedirectTarget {
  /**
   * `loopback` is the program that listens on that port of the person's own machine (RFC 8252
   * section 7.3), `application` the one that has claimed the scheme (section 7.1).
   */
  readonly kind: "web" | "loopback" | "application";
  readonly place: string;
}

/**
 * The target of an authorization, as a person has to judge it.
 *
 * @param uri a validated URI; any other text is shown as it is.
 */
export function redirectTarget(uri: string): RedirectTarget {
  if (!URL.canParse(uri)) return { kind: "application", place: uri };
  const { protocol, hostname, host } = new URL(uri);
  if (protocol !== "https:" && protocol !== "http:")
    return { kind: "application", place: protocol };
  return { kind: isLoopback(hostname) ? "loopback" : "web", place: host };
}

/** A list of entries, or a sentence for an empty list. */
export function listOf(entries: readonly Html[], empty: string): Html {
  if (entries.length === 0) return html`<p class="empty">${empty}</p>`;
  return html`<ul class="entries">
    ${entries}
  </ul>`;
}

export interface Entry {
  readonly title: Html;
  readonly facts: readonly Fact[];
  readonly action?: Html | undefined;
  /** An action with a confirmation. */
  readonly question?: Html;
}
export type Fact = readonly [label: string, value: Html | string];

export function entry({ title, facts, action, question }: Entry): Html {
  return html`<li class="entry">
    <h3>${title}</h3>
    ${factList(facts)} ${action !== undefined && html`<div class="action">${action}</div>`}
    ${question}
  </li>`;
}

export function factList(facts: readonly Fact[]): Html {
  return html`<dl class="facts">
    ${facts.map(
      ([label, value]) =>
        html`<div>
          <dt>${label}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

/** The facts about the access that a grant, an approval or a credential gives. */
export function reach(resources: readonly string[], scopes: readonly string[]): readonly Fact[] {
  return [
    ["Acts on", exactText(resources.join(", "))],
    ["Scopes", exactText(scopes.join(" "))],
  ];
}

export function lastUse(at: number | undefined, now: number): Fact {
  return ["Last used", at === undefined ? "not yet" : when(at, now)];
}

/** A secret to be copied and stored; a click selects all of it. */
export function secretValue(label: string, text: string): Html {
  return html`<p class="secret" role="group" aria-label="${label}"><code>${text}</code></p>`;
}

/**
 * Content with a button to copy it, on a page that `hasCopyButtons`.
 *
 * @param what the name of the content, for the button.
 */
export function copyable(what: string, content: Html): Html {
  return html`<div class="copyable" data-copy="${what}">${content}</div>`;
}

export type HiddenFields = Readonly<Record<string, string>>;

export function hidden(fields: HiddenFields): Html {
  return html`${Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  )}`;
}

interface ActionButton {
  readonly action: string;
  readonly label: string;
  /** The object of the action, for people to whom a screen reader reads the label alone. */
  readonly about?: string;
  readonly fields: HiddenFields;
  readonly look?: "primary" | "danger" | "link";
}

/** A button that changes something: a form of its own, sent with POST and a token. */
export function actionButton({ action, label, about, fields, look }: ActionButton): Html {
  return html`<form method="post" action="${action}">
    ${hidden(fields)}<button class="${look ?? "plain"}">
      ${label}${about !== undefined && html`<span class="unseen"> ${cleanText(about)}</span>`}
    </button>
  </form>`;
}

/**
 * A button behind a disclosure, which asks for confirmation without a script.
 *
 * @param look `ask` for an entry of a list, `sure` for a part of the page.
 */
export function confirmed(
  look: "ask" | "sure",
  summary: Html | string,
  warning: string,
  button: Omit<ActionButton, "look">,
): Html {
  return html`<details class="${look}">
    <summary>${summary}</summary>
    <div class="note warn">
      <p>${warning}</p>
      ${actionButton({ ...button, look: "danger" })}
    </div>
  </details>`;
}
