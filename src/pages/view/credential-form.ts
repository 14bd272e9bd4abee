/** The form for an API key or a service client: its name, and its resources. */

import { hidden } from "./forms.ts";
import { type Html, html } from "./html.ts";
import { exactText } from "./parts.ts";

/** Sends `csrf`, `label`, `resource` (one or more), and `days` if it has any. */
export interface CredentialForm {
  /** The earlier input, if the form is shown again. */
  readonly label: string;
  readonly resources: readonly Choice[];
  /** The lifetimes on offer, in days. */
  readonly days: readonly number[];
  /** The error of the last try, and the field that it is about. */
  readonly error: { readonly field: CredentialField; readonly sentence: string } | undefined;
}

export type CredentialField = "label" | "resource" | "days";

interface Choice {
  /** The identifier of the resource. */
  readonly value: string;
  readonly label: string;
  /** The scope for the resource. */
  readonly scope: string;
  readonly isChecked: boolean;
}

/**
 * @param kind the kind of credential, e.g. `key`; also keeps the ids of two forms on a page apart.
 */
export function credentialForm(
  kind: "key" | "client",
  action: string,
  form: CredentialForm,
  csrf: string,
): Html {
  const inside = html`<form method="post" action="${action}" class="create">
    ${hidden({ csrf })}
    <label for="${kind}-label">Name</label>
    ${problem("label", kind, form)}
    <input
      class="field"
      id="${kind}-label"
      name="label"
      value="${form.label}"
      maxlength="80"
      required
      autocomplete="off"
      ${tie("label", kind, form)}
    />
    <fieldset ${tie("resource", kind, form)}>
      <legend>It may use</legend>
      ${problem("resource", kind, form)} ${form.resources.map(checkbox)}
    </fieldset>
    ${
      form.days.length > 0 &&
      html`<label for="${kind}-days">It works for</label>
        ${problem("days", kind, form)}
        <select class="field" id="${kind}-days" name="days" ${tie("days", kind, form)}>
          ${form.days.map((days) => html`<option value="${days}">${days} days</option>`)}
        </select>`
    }
    <button class="primary">Create the ${kind}</button>
  </form>`;
  const summary = html`<summary>Create a ${kind}</summary>`;
  // A form with an error is open, with the error in sight.
  return form.error === undefined
    ? html`<details class="sure">${summary} ${inside}</details>`
    : html`<details class="sure" open>${summary} ${inside}</details>`;
}

function checkbox({ value, label, scope, isChecked }: Choice): Html {
  return html`<label class="choice"
    ><input type="checkbox" name="resource" value="${value}" ${isChecked && html`checked`} />
    <span
      >${label}<span class="small resource"
        >${exactText(value)} <span class="nowrap">· scope ${exactText(scope)}</span></span
      ></span
    ></label
  >`;
}

function problem(
  field: CredentialField,
  kind: string,
  { error }: CredentialForm,
): Html | undefined {
  if (error?.field !== field) return undefined;
  return html`<p class="error" id="${kind}-error" role="alert">${error.sentence}</p>`;
}

/** `aria-invalid` is for single fields; a group has its description alone. */
function tie(field: CredentialField, kind: string, { error }: CredentialForm): Html | undefined {
  if (error?.field !== field) return undefined;
  const described = html`aria-describedby="${kind}-error"`;
  return field === "label" || field === "days" ? html`aria-invalid="true" ${described}` : described;
}
