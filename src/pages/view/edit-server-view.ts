/** The form that changes a server which an operator has added. A secret in it is named, and never shown. */

import type { AddedServer, Revised } from "../../observability/added-servers.ts";
import type {
  Editable,
  EditedAuth,
  ServerEdit,
  ShownSecret,
} from "../../observability/edited-servers.ts";
import { KNOWN_BY } from "./accounts-view.ts";
import { addressNote, mistakesNote, SERVER_FORM_STYLE } from "./added-server-parts.ts";
import { type Html, html } from "./html.ts";
import type { Nav, View } from "./layout.ts";
import { foreign, hidden, part } from "./parts.ts";
import { addedServerPath, adminServerPath, PATHS } from "./paths.ts";

export interface EditServerView {
  readonly nav: Nav;
  readonly csrf: string;
  readonly server: Revised<AddedServer>;
  readonly editable: Editable;
  /** The ways to know callers that can be chosen here; none where nobody signs in. */
  readonly auths: readonly EditedAuth[];
  readonly allowsLoopback: boolean;
  /** What was typed before: something of it was wrong, or is to be changed again. */
  readonly typed: ServerEdit | undefined;
  readonly mistakes: readonly string[];
}

const MAX_SENTENCE = 600;

export function editServerView(model: EditServerView): View {
  const { csrf, server, editable, nav, mistakes, typed } = model;
  const { slug, label, state, revision } = server;
  const { secrets, others } = editable;
  const body = html`
    <p class="small back">
      <a href="${PATHS.adminServers}">Servers</a> ·
      <a href="${adminServerPath(slug)}">${foreign(slug, "?")}</a>
    </p>
    <h1>Change ${foreign(label ?? slug, slug)}</h1>
    ${mistakesNote(mistakes, typed !== undefined && hasSecrets(typed))}
    <form method="post" action="${addedServerPath(slug, "edit")}" class="stack" autocomplete="off">
      ${hidden({ csrf, revision: String(revision) })} ${part("Server", undefined, about(model))}
      ${
        secrets.length > 0 &&
        part(
          "Secrets",
          "What is set stays as it is where you enter nothing. At another origin, each has to be entered again: it was given for the one that there is.",
          html`${secrets.map((each) => secretField(each, model))}`,
        )
      }
      ${part("Headers", "They are sent with every request. An empty one is not sent any more.", headers(model))}
      ${
        others.length > 0 &&
        html`<p class="small">
          These stay as they are: ${foreign(others.join(", "), "", MAX_SENTENCE)}. To change them,
          remove the server, and add it again.
        </p>`
      }
      <section class="stop last">
        <button class="primary">See what changes</button>
        <p class="small">
          Nothing is kept yet.
          ${
            state === "live"
              ? "If it is reached in another way, it is looked at once, with what you have entered."
              : "It is looked at once, with what you have entered."
          }
        </p>
      </section>
    </form>
  `;
  const title = `Change ${slug}`;
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

function hasSecrets({ secrets, newHeader }: ServerEdit): boolean {
  const isNew = newHeader?.isSecret === true && newHeader.value !== "";
  return isNew || Object.values(secrets).some(({ kind }) => kind === "replaced");
}

function about({ server, editable, auths, allowsLoopback, typed }: EditServerView): Html {
  const { auth } = editable;
  const chosen = typed?.auth ?? auth;
  return html`${field({ id: "label", label: "Label", value: typed?.label ?? server.label ?? "" })}
  ${field({
    ...{ id: "url", label: "Address", value: typed?.url ?? editable.url },
    ...{ hint: addressNote(allowsLoopback), isRequired: true },
  })}
  ${
    auth !== undefined &&
    auths.length > 0 &&
    html`<div class="labelled">
      <label for="auth">Knows callers</label>
      <select class="field" id="auth" name="auth">
        ${auths.map(
          (each) =>
            html`<option value="${each}" ${each === chosen && html`selected`}>
              ${each === "headers" ? "by the headers below, or by nothing" : KNOWN_BY[each]}
            </option>`,
        )}
      </select>
    </div>`
  }`;
}

function secretField({ name, uses, isLong }: ShownSecret, { typed }: EditServerView): Html {
  const id = `secret-${name}`;
  const attributes = html`class="field" id="${id}" name="${id}" aria-describedby="${id}-hint"
  autocomplete="new-password" spellcheck="false"`;
  return html`<fieldset>
    <legend>${foreign(name, "?")}</legend>
    <p class="small" id="${id}-hint">
      It is set. Sent as ${foreign(uses.join(", "), "nothing", MAX_SENTENCE)}
    </p>
    <div class="labelled">
      <label for="${id}">Another value</label>
      ${
        isLong
          ? html`<textarea ${attributes} rows="4"></textarea>`
          : html`<input ${attributes} type="password" value="" />`
      }
    </div>
    <label class="choice"
      ><input
        type="checkbox"
        name="remove-${name}"
        ${typed?.secrets[name]?.kind === "removed" && html`checked`}
      /><span>Remove it, and send nothing that has it</span></label
    >
  </fieldset>`;
}

function headers({ editable, typed }: EditServerView): Html {
  const { name = "", value = "", isSecret = true } = typed?.newHeader ?? {};
  return html`${editable.headers.map(([name, value], n) =>
      field({
        ...{ id: `header-${n}`, label: foreign(name, "?") },
        value: typed?.headers[name] ?? value,
      }),
    )}
    ${field({ id: "new-name", label: "Another header: its name", value: name })}
    ${field({
      ...{ id: "new-value", label: "Its value", type: "password" },
      value: isSecret ? "" : value,
    })}
    <label class="choice"
      ><input type="checkbox" name="new-secret" ${isSecret && html`checked`} /><span
        >Its value is a secret: sealed, and never shown again</span
      ></label
    >`;
}

interface TextField {
  readonly id: string;
  readonly label: Html | string;
  readonly value: string;
  readonly hint?: string;
  readonly isRequired?: true;
  readonly type?: "text" | "password";
}

function field({ id, label, value, hint, isRequired, type = "text" }: TextField): Html {
  return html`<div class="labelled">
    <label for="${id}">${label}</label>
    ${hint !== undefined && html`<p class="small" id="${id}-hint">${hint}</p>`}
    <input
      class="field"
      id="${id}"
      name="${id}"
      type="${type}"
      value="${value}"
      autocomplete="${type === "text" ? "off" : "new-password"}"
      spellcheck="false"
      ${hint !== undefined && html`aria-describedby="${id}-hint"`}
      ${isRequired && html`required`}
    />
  </div>`;
}
