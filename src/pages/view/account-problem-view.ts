/** An account cannot be connected, or not now: what happened, and what the person or the operator can do. */

import { connectPath } from "../../accounts/addresses.ts";
import { accountBadge, accountFacts } from "./account-parts.ts";
import { type AccountPage, accountPage } from "./connect-account-view.ts";
import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import { exactText, factList, foreign, secretValue, stop } from "./parts.ts";
import { adminServerPath } from "./paths.ts";

export interface AccountProblemView extends AccountPage {
  readonly title: string;
  readonly whatHappened: string;
  readonly whatToDo: readonly string[];
  /** The text of a link to the page that begins anew, if that helps. */
  readonly again: string | undefined;
  /** For whoever runs the gateway. */
  readonly operator: OperatorHint | undefined;
}

interface OperatorHint {
  /** Names of settings stand between backticks. */
  readonly sentence: string;
  /** The table in which they are, like `MCP_SERVERS.github.oauth`. */
  readonly table: string;
  readonly redirectUri: string;
}

export function accountProblemView(model: AccountProblemView): View {
  const { title, server, account, operator, again, whatToDo } = model;
  const body = html`
    <h1>${title}</h1>
    <p class="lede">${model.whatHappened}</p>
    ${stop(
      "Server",
      html`<p class="main-fact">${foreign(server.label, server.slug)}</p>
        <p>${exactText(server.host)}</p>`,
    )}
    ${
      whatToDo.length > 0 &&
      stop(
        "What you can do",
        html`<ol class="steps">
          ${whatToDo.map((step) => html`<li>${step}</li>`)}
        </ol>`,
      )
    }
    ${
      account !== undefined &&
      stop(
        "Connected now",
        html`<p>${accountBadge(account)}</p>
          ${factList(accountFacts(account, model.now))}`,
      )
    }
    ${operator !== undefined && operatorStop(operator, server.slug)}
    ${
      again !== undefined &&
      html`<p class="stop last">
        <a class="button primary" href="${connectPath(server.slug)}">${again}</a>
      </p>`
    }
  `;
  return accountPage(model, title, body);
}

function operatorStop({ sentence, table, redirectUri }: OperatorHint, slug: string): Html {
  return stop(
    "For whoever runs this gateway",
    html`<p>${withCode(sentence)}</p>
      <p class="small">
        The settings are in ${exactText(table)}. A server that was added is not there: it is changed
        on <a href="${adminServerPath(slug)}">its page</a>. The redirect URI is:
      </p>
      ${secretValue("Redirect URI", redirectUri)}`,
  );
}

function withCode(sentence: string): Html {
  const pieces = sentence.split("`");
  return html`${pieces.map((piece, n) => (n % 2 === 0 ? html`${piece}` : html`<code>${piece}</code>`))}`;
}
