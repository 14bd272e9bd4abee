/** The fields of a form that a server has described, with the errors of the last try beside them. */

import { controlName, type Field, type Typed } from "../schema/form-fields.ts";
import { type Html, html } from "./html.ts";
import { foreign } from "./parts.ts";

export interface FieldSet {
  readonly fields: readonly Field[];
  /** Tells the forms of a page apart. */
  readonly prefix: string;
  readonly typed: Typed;
  readonly errors: ReadonlyMap<Field, string>;
}

const MAX_TEXT = 300;

export function fieldsView(set: FieldSet): Html {
  return html`${set.fields.map((field, n) => fieldView(set, field, `${set.prefix}-${n}`))}`;
}

function fieldView(set: FieldSet, field: Field, id: string): Html {
  const { kind, title, name = "" } = field;
  const error = set.errors.get(field);
  const label = html`${foreign(title ?? name, name, MAX_TEXT)}${
    title !== undefined &&
    title !== name &&
    name !== "" &&
    html` <code>${foreign(name, "", MAX_TEXT)}</code>`
  }${field.isRequired && html` <span class="small">required</span>`}`;
  const rules = kind === "json" ? ["as JSON", ...field.rules] : field.rules;
  const hint = [field.description, ...rules].filter((each) => each !== undefined).join(" · ");
  const notes = html`${
    error !== undefined && html`<p class="error" id="${id}-error">${error}</p>`
  }${hint !== "" && html`<p class="small" id="${id}-hint">${foreign(hint, "", 2 * MAX_TEXT)}</p>`}`;
  const ids = [error !== undefined && `${id}-error`, hint !== "" && `${id}-hint`].filter(Boolean);
  const described = html`${ids.length > 0 && html`aria-describedby="${ids.join(" ")}"`}
  ${error !== undefined && html`aria-invalid="true"`}`;
  if (kind === "choices") {
    return html`<fieldset ${described}>
      <legend>${label}</legend>
      ${notes} ${boxes(set, field)}
    </fieldset>`;
  }
  return html`<div class="labelled">
    <label for="${id}">${label}</label>
    ${notes}
    ${control(set, field, html`id="${id}" name="${controlName(field, set.prefix)}" ${described}`)}
  </div>`;
}

function boxes({ prefix, typed }: FieldSet, field: Field): Html {
  const ticked = typed(field, prefix);
  return html`${field.options.map(
    ({ key, label }) =>
      html`<label class="choice"
        ><input
          type="checkbox"
          name="${controlName(field, prefix)}"
          value="${key}"
          ${ticked.includes(key) && html`checked`}
        /><span>${foreign(label, key, MAX_TEXT)}</span></label
      >`,
  )}`;
}

function control({ prefix, typed }: FieldSet, field: Field, attributes: Html): Html {
  const { kind, options, isRequired, schema } = field;
  const [text = ""] = typed(field, prefix);
  if (kind === "choice") {
    return html`<select class="field" ${attributes}>
      ${(!isRequired || text === "") && html`<option value="">${isRequired ? "Choose" : "Not set"}</option>`}
      ${options.map(
        ({ key, label }) =>
          html`<option value="${key}" ${key === text && html`selected`}>
            ${foreign(label, key, MAX_TEXT)}
          </option>`,
      )}
    </select>`;
  }
  if (kind === "text" || kind === "json") {
    // A newline right behind the tag is not part of the text (HTML, the textarea element).
    return html`<textarea
      class="field ${kind}"
      rows="${kind === "json" ? 3 : 1}"
      spellcheck="false"
      ${attributes}
    >
${text}</textarea>`;
  }
  const isNumber = kind !== "line";
  const type = !isNumber && schema["format"] === "date" ? "date" : "text";
  return html`<input
    class="field"
    type="${type}"
    value="${text}"
    autocomplete="off"
    spellcheck="false"
    ${isNumber && html`inputmode="${kind === "integer" ? "numeric" : "decimal"}"`}
    ${attributes}
  />`;
}
