/** The first visit of the gateway's owner: a code is made, and shown once. */

import { actionButton } from "./forms.ts";
import { html } from "./html.ts";
import type { View } from "./layout.ts";
import { secretValue, stop } from "./parts.ts";
import { PATHS } from "./paths.ts";

export interface SetupView {
  /** Takes `handle` from the one-time link. */
  readonly action: string;
  readonly handle: string;
}

export interface SetupDoneView {
  readonly code: string;
}

export function setupView({ action, handle }: SetupView): View {
  const body = html`
    <h1>Set up this gateway</h1>
    <p class="lede">This link works once. Whoever uses it becomes the owner.</p>
    ${stop(
      "What happens now",
      html`<p>
          Edgeway makes an owner code and shows it to you. With it you sign in here, and only you.
        </p>
        <p>It is kept as a hash, so nobody can show it again. Have a password manager ready.</p>`,
    )}
    <div class="stop last">
      ${actionButton({ action, label: "Make the owner code", fields: { handle }, look: "primary" })}
    </div>
  `;
  return { title: "Set up", body, width: "narrow", kind: "login" };
}

export function setupDoneView({ code }: SetupDoneView): View {
  const body = html`
    <h1>Your owner code</h1>
    <p class="lede">Keep it now. It is not shown again.</p>
    ${stop(
      "Owner code",
      html`${secretValue("Owner code", code)}
        <p class="small">Click it to select all of it.</p>`,
      "good",
    )}
    ${stop(
      "If you lose it",
      html`<p>
        Whoever deploys this gateway can set another one, as the secret OWNER_CODE. This one stops
        working then.
      </p>`,
    )}
    <p class="stop last"><a class="button primary" href="${PATHS.login}">Sign in</a></p>
  `;
  return { title: "Your owner code", body, width: "narrow", kind: "login" };
}
