/** What a paste would add: each server with what it needs, before anything of it is kept. */

import type { Candidate, Field, Left } from "../../observability/pasted-servers.ts";
import type { FilledIn } from "../operator/fill-in.ts";
import { mistakesNote, SERVER_FORM_STYLE } from "./added-server-parts.ts";
import { addressText } from "./admin-servers-view.ts";
import { type Html, html } from "./html.ts";
import type { Nav, View } from "./layout.ts";
import { foreign, hidden, part } from "./parts.ts";
import { PATHS } from "./paths.ts";

export interface CandidatesView {
  readonly nav: Nav;
  readonly csrf: string;
  readonly items: readonly (Candidate | Left)[];
  /** What was typed, when something of it was wrong; by the place among the candidates. */
  readonly filled: readonly FilledIn[] | undefined;
  /** What is wrong with the form as a whole. */
  readonly mistake: string | undefined;
  /** The paste, sealed. */
  readonly sealed: string;
}

const MAX_SENTENCE = 600;

export function candidatesView(model: CandidatesView): View {
  const { nav, csrf, items, filled, mistake, sealed } = model;
  const candidates = items.filter((item) => item.kind === "candidate");
  const isAlone = candidates.length === 1;
  const left = items.filter((item) => item.kind === "left");
  const body = html`
    <p class="small back"><a href="${PATHS.adminServers}">Servers</a></p>
    <h1>What would be added</h1>
    ${mistakesNote(
      mistake === undefined ? [] : [mistake],
      filled?.some(({ hasSecrets }) => hasSecrets),
    )}
    ${
      candidates.length > 0 &&
      html`<form method="post" action="${PATHS.addServers}" class="stack" autocomplete="off">
        ${hidden({ csrf, pasted: sealed })}
        ${candidates.map((each, n) => candidatePart(each, { n, isAlone }, filled?.[n]))}
        <section class="stop last">
          <button class="primary">Keep as ${isAlone ? "a draft" : "drafts"}</button>
          <p class="small">
            A draft serves nobody. One that is added alone is looked at once, with what you have
            entered.
          </p>
        </section>
      </form>`
    }
    ${
      left.length > 0 &&
      part(
        "Left out",
        undefined,
        html`<ul class="entries">
          ${left.map(
            ({ name, sentence }) =>
              html`<li class="entry">
                <h3>${foreign(name, "?")}</h3>
                <p>${foreign(sentence, "", MAX_SENTENCE)}</p>
              </li>`,
          )}
        </ul>`,
      )
    }
    ${items.length === 0 && html`<p>There is no server in it.</p>`}
  `;
  const title = "What would be added";
  return {
    title,
    body,
    width: "wide",
    kind: "site",
    nav,
    style: SERVER_FORM_STYLE,
    sendsOnce: true,
  };
}

interface Place {
  /** Among the candidates. */
  readonly n: number;
  /** A browser that demands a value knows nothing of the box: it would demand those of servers that nobody wants. */
  readonly isAlone: boolean;
}

function candidatePart(candidate: Candidate, place: Place, filled: FilledIn | undefined): Html {
  const { n, isAlone } = place;
  const { slug, label, entry, fields } = candidate;
  const mistakes = filled?.mistakes ?? [];
  const isChosen = filled?.isChosen ?? true;
  return part(
    "Server",
    undefined,
    html`<label class="choice"
        ><input type="checkbox" name="add" value="${n}" ${isChosen && html`checked`} />
        <span
          >${foreign(label ?? slug, "?")}<span class="small resource"
            >${addressText(entry["url"])}</span
          ></span
        ></label
      >
      ${mistakesNote(mistakes)}
      ${candidate.remarks.map((each) => html`<p class="small">${foreign(each, "", MAX_SENTENCE)}</p>`)}
      <div class="labelled">
        <label for="slug-${n}">Slug</label>
        <p class="small" id="slug-${n}-hint">
          A word of a-z, 0-9 and "-": part of its address here, and of the names of its tools.
        </p>
        <input
          class="field"
          id="slug-${n}"
          name="slug-${n}"
          value="${filled?.entry.slug ?? slug}"
          maxlength="24"
          ${isAlone && html`required`}
          autocomplete="off"
          spellcheck="false"
          aria-describedby="slug-${n}-hint"
        />
      </div>
      ${fields.map((field) => fieldView(field, place, Object.hasOwn(candidate.secrets, field.name), filled?.typed[field.name]))}`,
  );
}

function fieldView(
  field: Field,
  { n, isAlone }: Place,
  isPasted: boolean,
  typed: string | undefined,
): Html {
  const { name, label, isSecret, isRequired, initial, choices, description } = field;
  const id = `field-${name}-${n}`;
  const hint = [description, isPasted && "Empty means: as it was pasted."]
    .filter(Boolean)
    .join(" · ");
  const attributes = html`class="field" id="${id}" name="${id}"
  ${hint !== "" && html`aria-describedby="${id}-hint"`}
  ${isAlone && isRequired && !isPasted && html`required`}`;
  const value = typed ?? initial ?? "";
  return html`<div class="labelled">
    <label for="${id}"
      >${foreign(label, name)}${isRequired && html` <span class="small">required</span>`}</label
    >
    ${hint !== "" && html`<p class="small" id="${id}-hint">${foreign(hint, "", MAX_SENTENCE)}</p>`}
    ${
      choices === undefined
        ? html`<input
            ${attributes}
            type="${isSecret ? "password" : "text"}"
            value="${isSecret ? "" : value}"
            autocomplete="${isSecret ? "new-password" : "off"}"
            spellcheck="false"
          />`
        : html`<select ${attributes}>
            ${!isRequired && html`<option value="">Not set</option>`}
            ${choices.map(
              (each) =>
                html`<option value="${each}" ${each === value && html`selected`}>
                  ${foreign(each, each)}
                </option>`,
            )}
          </select>`
    }
  </div>`;
}
