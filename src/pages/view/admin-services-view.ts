/** Service clients: programs that act as themselves (client credentials). */

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

export interface ServicesModel {
  readonly list: readonly ServiceRow[];
  /** Without `days`: a service client works until it is revoked. */
  readonly form: CredentialForm;
}

export interface ServiceRow {
  readonly id: string;
  readonly label: string;
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  readonly createdAt: number;
  readonly lastUsedAt: number | undefined;
  /** The maker's name on pages; `undefined` when that is not known. */
  readonly maker: string | undefined;
  /** `false` when its maker is no longer an administrator. */
  readonly isServed: boolean;
}

export interface ServiceCreatedView {
  readonly label: string;
  readonly clientId: string;
  readonly secret: string;
  readonly tokenEndpoint: string;
}

export function servicesSection({ list, form }: ServicesModel, now: number, csrf: string): Html {
  return part(
    "Service clients",
    "Programs that act as themselves, with a client id and a secret. One ends when its maker is no administrator any more.",
    html`${listOf(
      list.map((each) => row(each, now, csrf)),
      "There are no service clients.",
    )}
    ${credentialForm("client", PATHS.createService, form, csrf)}`,
  );
}

function row(each: ServiceRow, now: number, csrf: string): Html {
  return entry({
    title: html`${foreign(each.label, each.id)}
    ${!each.isServed && html`<span class="badge warn">Ended with its maker</span>`}`,
    facts: [
      ["Client id", exactText(each.id)],
      ["Acts on", exactText(each.resources.join(", "))],
      ["Scopes", exactText(each.scopes.join(" "))],
      ["Created", when(each.createdAt, now)],
      ["Made by", each.maker === undefined ? "unknown" : foreign(each.maker, "")],
      lastUse(each.lastUsedAt, now),
    ],
    action: actionButton({
      action: PATHS.revokeService,
      label: "Revoke",
      about: each.label,
      ...{ fields: { csrf, id: each.id }, look: "danger" },
    }),
  });
}

export function serviceCreatedView(model: ServiceCreatedView): View {
  const body = html`
    <h1>New service client</h1>
    <p class="lede">
      Keep the secret of <b>${foreign(model.label, model.clientId)}</b> now. It is not shown again.
    </p>
    ${stop("Client id", copyable("the client id", secretValue("Client id", model.clientId)))}
    ${stop(
      "Secret",
      html`${copyable("the secret", secretValue("Secret", model.secret))}
        <p class="small">Click it to select all of it.</p>`,
      "good",
    )}
    ${stop("Token endpoint", html`<p>${exactText(model.tokenEndpoint)}</p>`)}
    <p class="stop last"><a class="button plain" href="${PATHS.admin}">Back to admin</a></p>
  `;
  const nav = { current: "admin", isAdmin: true } as const;
  return {
    title: "New service client",
    body,
    width: "wide",
    kind: "site",
    nav,
    script: COPY_SCRIPT,
  };
}
