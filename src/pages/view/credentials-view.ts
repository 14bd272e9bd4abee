/**
 * Credentials for programs: API keys, which act as their person, and service clients, which act as
 * themselves (client credentials). Both are lists with a form, and a page that shows a new secret once.
 */

import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import {
  actionButton,
  badge,
  copyable,
  entry,
  exactText,
  foreign,
  hidden,
  lastStop,
  lastUse,
  listOf,
  type PageContext,
  part,
  reach,
  secretValue,
  stop,
} from "./parts.ts";
import { PATHS } from "./paths.ts";
import { when } from "./time.ts";

/** The credentials of one kind that there are, and the form for another one. */
export interface Credentials<Row> {
  readonly list: readonly Row[];
  readonly form: CredentialForm;
}

interface CredentialRow {
  readonly id: string;
  readonly label: string;
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
}

export interface ApiKeyRow extends CredentialRow {
  /** The part that is not secret, e.g. `edgeway_sk_h7k2m4p8r3t5w9xz`. */
  readonly beginning: string;
  readonly expiresAt: number;
  readonly usedAt?: number;
}

export interface ServiceRow extends CredentialRow {
  readonly createdAt: number;
  readonly usedAt: number | undefined;
  /** The maker's name on pages; `undefined` when that is not known. */
  readonly maker: string | undefined;
  /** `false` when its maker is no longer an administrator. */
  readonly isServed: boolean;
}

/** Sends `csrf`, `label`, `resource` (one or more), and `days` if it has any. */
export interface CredentialForm {
  /** The earlier input, if the form is shown again. */
  readonly label: string;
  readonly resources: readonly Choice[];
  /** The lifetimes on offer, in days; none for a credential that works until it is revoked. */
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

const NAMELESS_KEY = "A key without a name";

export function apiKeysSection({ list, form }: Credentials<ApiKeyRow>, page: PageContext): Html {
  const { now, csrf } = page;
  const rows = list.map((key) => {
    const { id, label, beginning, expiresAt } = key;
    const isExpired = expiresAt <= now;
    const about = `the key ${label}`;
    const fields = { csrf, id };
    return entry({
      title: html`${foreign(label, NAMELESS_KEY)} ${isExpired && badge("Expired", "warn")}`,
      facts: [
        ["Begins with", exactText(`${beginning}…`)],
        ...reach(key.resources, key.scopes),
        [isExpired ? "Expired" : "Expires", when(expiresAt, now)],
        lastUse(key.usedAt, now),
      ],
      action: actionButton({
        action: PATHS.revokeKey,
        label: "Revoke",
        about,
        fields,
        look: "danger",
      }),
    });
  });
  return part(
    "API keys",
    "For programs that cannot open a browser. Each acts as you.",
    html`${listOf(rows, "You have no API keys.")}
    ${credentialForm("key", PATHS.createKey, form, csrf)}`,
  );
}

export function servicesSection({ list, form }: Credentials<ServiceRow>, page: PageContext): Html {
  const { now, csrf } = page;
  const rows = list.map(({ id, label, maker, ...client }) => {
    const fields = { csrf, id };
    return entry({
      title: html`${foreign(label, id)} ${!client.isServed && badge("Ended with its maker", "warn")}`,
      facts: [
        ["Client id", exactText(id)],
        ...reach(client.resources, client.scopes),
        ["Created", when(client.createdAt, now)],
        ["Made by", maker === undefined ? "unknown" : foreign(maker, "")],
        lastUse(client.usedAt, now),
      ],
      action: actionButton({
        action: PATHS.revokeService,
        label: "Revoke",
        about: label,
        fields,
        look: "danger",
      }),
    });
  });
  return part(
    "Service clients",
    "Programs that act as themselves, with a client id and a secret. One ends when its maker is no administrator any more.",
    html`${listOf(rows, "There are no service clients.")}
    ${credentialForm("client", PATHS.createService, form, csrf)}`,
  );
}

export interface KeyCreatedView {
  readonly label: string;
  readonly key: string;
  readonly expiresAt: number;
  readonly now: number;
  /** The endpoint that the key is for. */
  readonly endpoint: string;
  readonly isAdmin: boolean;
}

export function keyCreatedView({ label, key, isAdmin, ...model }: KeyCreatedView): View {
  const title = "Your new key";
  const body = html`
    <h1>${title}</h1>
    <p class="lede">Keep it now. It is not shown again.</p>
    ${stop(
      "API key",
      html`${copyable("the key", secretValue("API key", key))}
        <p class="small">
          <b>${foreign(label, NAMELESS_KEY)}</b> expires ${when(model.expiresAt, model.now)}. Click
          the key to select all of it.
        </p>`,
      "good",
    )}
    ${stop(
      "How a program sends it",
      html`<pre><code>Authorization: Bearer $EDGEWAY_KEY</code></pre>
        <p class="small">With every request to ${exactText(model.endpoint)}</p>`,
    )}
    ${lastStop("Back to your account", PATHS.account)}
  `;
  const nav = { current: "account", isAdmin } as const;
  return { title, body, width: "wide", kind: "site", nav, hasCopyButtons: true };
}

export interface ServiceCreatedView {
  readonly label: string;
  readonly clientId: string;
  readonly secret: string;
  readonly tokenEndpoint: string;
}

export function serviceCreatedView(model: ServiceCreatedView): View {
  const { label, clientId, secret, tokenEndpoint } = model;
  const title = "New service client";
  const body = html`
    <h1>${title}</h1>
    <p class="lede">
      Keep the secret of <b>${foreign(label, clientId)}</b> now. It is not shown again.
    </p>
    ${stop("Client id", copyable("the client id", secretValue("Client id", clientId)))}
    ${stop(
      "Secret",
      html`${copyable("the secret", secretValue("Secret", secret))}
        <p class="small">Click it to select all of it.</p>`,
      "good",
    )}
    ${stop("Token endpoint", html`<p>${exactText(tokenEndpoint)}</p>`)}
    ${lastStop("Back to admin", PATHS.admin)}
  `;
  const nav = { current: "admin", isAdmin: true } as const;
  return { title, body, width: "wide", kind: "site", nav, hasCopyButtons: true };
}

/** @param kind the kind of credential; also keeps the ids of two forms on a page apart. */
function credentialForm(
  kind: "key" | "client",
  action: string,
  { label, resources, days, error }: CredentialForm,
  csrf: string,
): Html {
  // A form with an error is open, with the error in sight.
  return html`<details class="sure" ${error !== undefined && html`open`}>
    <summary>Create a ${kind}</summary>
    <form method="post" action="${action}" class="create">
      ${hidden({ csrf })}
      <label for="${kind}-label">Name</label>
      ${problem("label")}
      <input
        class="field"
        id="${kind}-label"
        name="label"
        value="${label}"
        maxlength="80"
        required
        autocomplete="off"
        ${tie("label")}
      />
      <fieldset ${tie("resource")}>
        <legend>It may use</legend>
        ${problem("resource")} ${resources.map(checkbox)}
      </fieldset>
      ${
        days.length > 0 &&
        html`<label for="${kind}-days">It works for</label>
          ${problem("days")}
          <select class="field" id="${kind}-days" name="days" ${tie("days")}>
            ${days.map((each) => html`<option value="${each}">${each} days</option>`)}
          </select>`
      }
      <button class="primary">Create the ${kind}</button>
    </form>
  </details>`;

  function problem(field: CredentialField): Html | undefined {
    if (error?.field !== field) return undefined;
    return html`<p class="error" id="${kind}-error" role="alert">${error.sentence}</p>`;
  }

  /** `aria-invalid` is for single fields; a group has its description alone. */
  function tie(field: CredentialField): Html | undefined {
    if (error?.field !== field) return undefined;
    return html`${field !== "resource" && html`aria-invalid="true" `}aria-describedby="${kind}-error"`;
  }
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
