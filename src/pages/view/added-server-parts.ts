/** What the pages of added servers share. */

import { type Html, html } from "./html.ts";
import { foreign } from "./parts.ts";

/** @param allowsLoopback the gateway runs on this machine. */
export function addressNote(allowsLoopback: boolean): string {
  const [allowed, refused] = allowsLoopback
    ? [", or one of this machine (localhost), since the gateway runs on it", ""]
    : ["", " or of the gateway’s own machine"];
  return `A public https address${allowed}. One of a private network${refused} is refused, since an administrator must not get further into a network than the gateway’s configuration lets them: put such a server into MCP_SERVERS.`;
}

const MAX_SENTENCE = 600;

const SECRETS_GONE = "What you entered as secrets is not shown again: enter it once more.";

/**
 * What is wrong with what was entered.
 *
 * @param hasSecrets some of it was secret. Its field is empty again, which would mean: as it was before.
 */
export function mistakesNote(mistakes: readonly string[], hasSecrets = false): Html {
  const sentences = hasSecrets ? [...mistakes, SECRETS_GONE] : mistakes;
  if (sentences.length === 0) return html``;
  return html`<div class="note warn" role="alert">
    <ul>
      ${sentences.map((each) => html`<li>${foreign(each, "", MAX_SENTENCE)}</li>`)}
    </ul>
  </div>`;
}

export const SERVER_FORM_STYLE =
  ".labelled { max-width: 30rem; } .part fieldset { grid-template-columns: minmax(0, 1fr); } legend { padding: 0; } .labelled + .choice { padding-top: 0; }";
