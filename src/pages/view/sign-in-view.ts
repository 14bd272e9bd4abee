/** Signing in: through a provider, or with the owner's code. */

import { cleanText } from "../../lib/clean-text.ts";
import { type HiddenFields, hidden } from "./forms.ts";
import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import { clientName } from "./parts.ts";

export interface SignInView {
  /**
   * The application to which the person is on the way; `undefined` for the pages of the gateway.
   */
  readonly client: { readonly name: string } | undefined;
  readonly handle: string;
  readonly providers: readonly SignInProvider[];
  readonly owner: OwnerForm | undefined;
}

interface SignInProvider {
  /** The provider's name, e.g. `github`. */
  readonly name: string;
  /** The text of the button, e.g. `Continue with GitHub`. */
  readonly label: string;
  /** Takes `handle` and `provider` (its name). */
  readonly action: string;
}

export interface OwnerForm {
  /** Takes `handle` and `code`. */
  readonly action: string;
  /** The error of the last try. */
  readonly error: string | undefined;
  /** The seconds for which tries are refused. */
  readonly waitSeconds: number | undefined;
}

export function signInView(model: SignInView): View {
  const { client, providers, owner } = model;
  const fields = { handle: model.handle };
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

function providerButton({ name, label, action }: SignInProvider, fields: HiddenFields): Html {
  return html`<form method="post" action="${action}">
    ${hidden({ ...fields, provider: name })}<button class="plain wide">${label}</button>
  </form>`;
}

/** @param isAlone whether the form is the only one on the page, and may have the focus. */
function ownerForm(owner: OwnerForm, fields: HiddenFields, isAlone: boolean): Html {
  const error = errorOf(owner);
  const described = error === undefined ? "code-hint" : "code-error code-hint";
  return html`<form method="post" action="${owner.action}">
    ${hidden(fields)}
    <input name="username" value="owner" autocomplete="username" readonly hidden />
    <label for="code">Owner code</label>
    ${error !== undefined && html`<p class="error" id="code-error" role="alert">${error}</p>`}
    <input
      class="${error === undefined ? "field" : "field invalid"}"
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
