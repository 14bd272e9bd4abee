/** API keys: for programs that have no browser. */

import { COPY_SCRIPT } from "./copy-script.ts";
import { type CredentialForm, credentialForm } from "./credential-form.ts";
import { actionButton } from "./forms.ts";
import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import {
  exactText,
  copyable,
  entry,
  foreign,
  lastUse,
  listOf,
  part,
  secretValue,
  stop,
} from "./parts.ts";
import { PATHS } from "./paths.ts";
import { when } from "./time.ts";

export interface ApiKeysModel {
  readonly list: readonly ApiKeyRow[];
  readonly form: CredentialForm;
}

export interface ApiKeyRow {
  readonly id: string;
  readonly label: string;
  /** The part that is not secret, e.g. `edgeway_sk_h7k2m4p8r3t5w9xz`. */
  readonly prefix: string;
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  readonly expiresAt: number;
  readonly lastUsedAt: number | undefined;
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

export function apiKeysSection({ list, form }: ApiKeysModel, now: number, csrf: string): Html {
  return part(
    "API keys",
    "For programs that cannot open a browser. Each acts as you.",
    html`${listOf(
      list.map((each) => row(each, now, csrf)),
      "You have no API keys.",
    )}
    ${credentialForm("key", PATHS.createKey, form, csrf)}`,
  );
}

function row(each: ApiKeyRow, now: number, csrf: string): Html {
  const isExpired = each.expiresAt <= now;
  return entry({
    title: html`${foreign(each.label, "A key without a name")}
    ${isExpired && html`<span class="badge warn">Expired</span>`}`,
    facts: [
      ["Begins with", exactText(`${each.prefix}…`)],
      ["Acts on", exactText(each.resources.join(", "))],
      ["Scopes", exactText(each.scopes.join(" "))],
      [isExpired ? "Expired" : "Expires", when(each.expiresAt, now)],
      lastUse(each.lastUsedAt, now),
    ],
    action: actionButton({
      ...{ action: PATHS.revokeKey, label: "Revoke", about: `the key ${each.label}` },
      ...{ fields: { csrf, id: each.id }, look: "danger" },
    }),
  });
}

export function keyCreatedView(model: KeyCreatedView): View {
  const body = html`
    <h1>Your new key</h1>
    <p class="lede">Keep it now. It is not shown again.</p>
    ${stop(
      "API key",
      html`${copyable("the key", secretValue("API key", model.key))}
        <p class="small">
          <b>${foreign(model.label, "A key without a name")}</b> expires
          ${when(model.expiresAt, model.now)}. Click the key to select all of it.
        </p>`,
      "good",
    )}
    ${stop(
      "How a program sends it",
      html`<pre><code>Authorization: Bearer $EDGEWAY_KEY</code></pre>
        <p class="small">With every request to ${exactText(model.endpoint)}</p>`,
    )}
    <p class="stop last">
      <a class="button plain" href="${PATHS.account}">Back to your account</a>
    </p>
  `;
  const nav = { current: "account", isAdmin: model.isAdmin } as const;
  return { title: "Your new key", body, width: "wide", kind: "site", nav, script: COPY_SCRIPT };
}
