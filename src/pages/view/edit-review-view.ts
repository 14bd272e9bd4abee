/** What an edit of an added server would change, before anything of it is kept. */

import type { AddedServer, ProbeReport, Revised } from "../../observability/added-servers.ts";
import type { Difference, Edited } from "../../observability/edited-servers.ts";
import { probePart } from "./added-server-view.ts";
import { SERVER_FORM_STYLE } from "./added-server-parts.ts";
import { type Html, html } from "./html.ts";
import type { Nav, View } from "./layout.ts";
import { foreign, hidden, type PageContext, part } from "./parts.ts";
import { addedServerPath, adminServerPath, PATHS } from "./paths.ts";

export interface EditReviewView extends PageContext {
  readonly nav: Nav;
  readonly server: Revised<AddedServer>;
  readonly outcome: Pick<
    Extract<Edited, { readonly kind: "edited" }>,
    "differences" | "reach" | "entry"
  >;
  /** What was found at the server as it would be; absent where it was not looked at. */
  readonly probe: ProbeReport | undefined;
  /** People sign in here, so they can have accounts at it. */
  readonly hasSignIn: boolean;
  /** The edit, sealed. */
  readonly sealed: string;
}

const MAX_VALUE = 2048;

export function editReviewView(model: EditReviewView): View {
  const { csrf, now, nav, server, outcome, probe, sealed, hasSignIn } = model;
  const { slug, revision, label } = server;
  const body = html`
    <p class="small back">
      <a href="${PATHS.adminServers}">Servers</a> ·
      <a href="${adminServerPath(slug)}">${foreign(slug, "?")}</a>
    </p>
    <h1>What would change at ${foreign(label ?? slug, slug)}</h1>
    ${part(
      "Differences",
      undefined,
      html`<ul class="entries">
        ${outcome.differences.map(difference)}
      </ul>`,
    )}
    ${
      probe === undefined
        ? outcome.reach !== "same" &&
          html`<p class="note warn">
            It was not looked at: that was done too often. Wait a minute, then change it again.
          </p>`
        : probePart(
            probe,
            { now, hasSignIn, auth: outcome.entry["auth"] },
            "Requests were sent to its address as it would be, with what you have entered.",
          )
    }
    <form method="post" action="${addedServerPath(slug, "edit/keep")}" autocomplete="off">
      ${hidden({ csrf, revision: String(revision), edit: sealed })}
      <section class="stop last">
        <p class="small">${consequence(model)}</p>
        <div class="answers">
          <button class="primary">Keep the change</button>
          <button class="plain" name="again" value="1">Change it again</button>
        </div>
      </section>
    </form>
  `;
  const title = "What would change";
  return { title, body, width: "wide", kind: "site", nav, style: STYLE, sendsOnce: true };
}

const STYLE = `${SERVER_FORM_STYLE} .now { font-weight: 600; } .answers { display: flex; flex-wrap: wrap; gap: 0.75rem; }`;

function difference({ what, before, after }: Difference): Html {
  return html`<li class="entry">
    <h3>${foreign(what, "?")}</h3>
    <p class="small">${foreign(before, "", MAX_VALUE)}</p>
    <p class="now"><span class="unseen">becomes </span>${foreign(after, "", MAX_VALUE)}</p>
  </li>`;
}

function consequence({ server: { state }, outcome: { reach } }: EditReviewView): string {
  if (reach === "moved" && state !== "draft") {
    return "At another origin it is another server: it becomes a draft, and serves nobody until you have it served. Accounts that people have connected are not sent there; they connect again.";
  }
  if (state !== "live") return "It serves nobody yet.";
  return reach === "same"
    ? "It goes on serving."
    : "It goes on serving: from then on in this way, within ten seconds everywhere. Its sessions begin anew.";
}
