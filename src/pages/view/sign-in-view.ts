/** Signing in, through a provider or with the owner's code; and the first visit, which makes that code. */

import { cleanText } from "../../lib/clean-text.ts";
import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import {
  actionButton,
  clientName,
  type HiddenFields,
  hidden,
  lastStop,
  secretValue,
  stop,
} from "./parts.ts";
import { PATHS } from "./paths.ts";

export interface SignInView {
  /**
   * The application to which the person is on the way; `undefined` for the pages of the gateway.
   */
  readonly client: { readonly name: string } | undefined;
  /** The handle of the attempt, in every form. */
  readonly handle: string;
  readonly providers: readonly SignInProvider[];
  readonly owner: OwnerForm | undefined;
}

interface SignInProvider {
  /** The provider's name, e.g. `github`, sent as `provider`. */
  readonly name: string;
  /** The text of the button, e.g. `Continue with GitHub`. */
  readonly label: string;
}

/** Sends `code`. */
export interface OwnerForm {
  /** The error of the last try. */
  readonly error?: string;
  /** The seconds for which tries are refused. */
  readonly waitSeconds?: number;
}

export function signInView({ client, handle, providers, owner }: SignInView): View {
  const fields = { handle };
  const body = html`
    <h1>Sign in</h1>
    <p class="lede">
      ${
        client === undefined
          ? html`to manage your connections`
          : html`to connect <b>${clientName(client.name)}</b>`
      }
    </p>
    ${
      providers.length > 0 &&
      html`<section class="stop choices" aria-label="Sign in with a provider">
        <div class="stack">${providers.map((provider) => providerButton(provider, fields))}</div>
      </section>`
    }
    ${
      owner !== undefined &&
      html`<section class="stop" aria-label="Sign in with the owner code">
        ${ownerForm(owner, fields, providers.length === 0)}
      </section>`
    }
    ${
      providers.length === 0 &&
      owner === undefined &&
      html`<p class="note warn">
        Nobody can sign in yet: this gateway has no identity provider. Its operator sets one with
        IDENTITY.
      </p>`
    }
  `;
  const title =
    client === undefined
      ? "Sign in"
      : `Sign in to connect ${cleanText(client.name) || "an application"}`;
  return { title, body, width: "narrow", kind: "login" };
}

function providerButton({ name, label }: SignInProvider, fields: HiddenFields): Html {
  return html`<form method="post" action="${PATHS.login}">
    ${hidden({ ...fields, provider: name })}<button class="plain wide">${label}</button>
  </form>`;
}

/** @param isAlone whether the form is the only one on the page, and may have the focus. */
function ownerForm(owner: OwnerForm, fields: HiddenFields, isAlone: boolean): Html {
  const error = errorOf(owner);
  const described = error === undefined ? "code-hint" : "code-error code-hint";
  return html`<form method="post" action="${PATHS.login}">
    ${hidden(fields)}
    <input name="username" value="owner" autocomplete="username" readonly hidden />
    <label for="code">Owner code</label>
    ${error !== undefined && html`<p class="error" id="code-error" role="alert">${error}</p>`}
    <input
      class="field"
      type="password"
      id="code"
      name="code"
      autocomplete="current-password"
      autocapitalize="off"
      spellcheck="false"
      required
      aria-describedby="${described}"
      ${error !== undefined && html`aria-invalid="true"`}
      ${isAlone && html`autofocus`}
    />
    <p class="small" id="code-hint">The code that was shown when this gateway was set up.</p>
    <button class="primary wide">Sign in</button>
  </form>`;
}

function errorOf({ error, waitSeconds }: OwnerForm): string | undefined {
  if (waitSeconds === undefined) return error;
  const [amount, unit] =
    waitSeconds < 120 ? [waitSeconds, "second"] : [Math.ceil(waitSeconds / 60), "minute"];
  return `Too many tries. Wait ${amount} ${amount === 1 ? unit : `${unit}s`}, then try again.`;
}

/** What the form of `/setup` sends. */
export interface SetupFields {
  /** From the link, which works once. */
  readonly handle: string;
  /** A random secret of this page alone: what is sent again from it gets the same code. */
  readonly nonce: string;
}

export function setupView({ handle, nonce }: SetupFields): View {
  const fields = { handle, nonce };
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
      ${actionButton({ action: PATHS.setup, label: "Make the owner code", fields, look: "primary" })}
    </div>
  `;
  return { title: "Set up", body, width: "narrow", kind: "login" };
}

export function setupDoneView(code: string): View {
  const title = "Your owner code";
  const body = html`
    <h1>${title}</h1>
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
    ${lastStop("Sign in", PATHS.login, "primary")}
  `;
  return { title, body, width: "narrow", kind: "login" };
}
