/** `/connect/<slug>` after the way back from a vendor: the account is connected, and what it does not allow. */

import { connectPath } from "../../accounts/addresses.ts";
import { accountBadge, accountFacts, type ShownAccount } from "./account-parts.ts";
import { type AccountPage, accountPage } from "./connect-account-view.ts";
import { html } from "./html.ts";
import type { View } from "./layout.ts";
import { exactText, factList, foreign, stop } from "./parts.ts";
import { PATHS } from "./paths.ts";

export interface ConnectedView extends AccountPage {
  readonly account: ShownAccount;
  /** The scopes that were asked for and not given. */
  readonly missing: readonly string[];
}

/** The person is back, and everything is done. */
export function connectedView(model: ConnectedView): View {
  const { server, account, missing, person, isShared } = model;
  const label = foreign(server.label, server.slug);
  const body = html`
    <h1>${label} is connected</h1>
    <p class="lede">You can close this window and go back to your application.</p>
    ${stop(
      "Account",
      html`<p>${accountBadge(account)}</p>
        ${factList(accountFacts(account, model.now))}`,
      "good",
    )}
    ${
      missing.length > 0 &&
      stop(
        "Not allowed",
        html`<ul class="scopes">
            ${missing.map((scope) => html`<li class="scope">${exactText(scope)}</li>`)}
          </ul>
          <p class="small">
            This was asked for and not given. What needs it is refused by the server, or asks you
            once more.
          </p>`,
        "warn",
      )
    }
    <p class="stop last">
      <a class="button plain" href="${connectPath(server.slug)}">Change it</a>
      ${
        person !== undefined &&
        html` <a class="button plain" href="${isShared ? PATHS.admin : PATHS.account}"
          >${isShared ? "Back to admin" : "Your account"}</a
        >`
      }
    </p>
  `;
  return accountPage(model, "Connected", body);
}
