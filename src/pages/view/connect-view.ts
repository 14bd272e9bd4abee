/** The front page: instructions that connect each client to this gateway. */

import { type ClientGuide, clientGuides, type Snippet } from "./client-guides.ts";
import { entryNotices } from "./entry-notices.ts";
import { type Html, html } from "./html.ts";
import type { EntryNotice } from "../../observability/health.ts";
import type { View } from "./layout.ts";
import { copyable, foreign, part, stop } from "./parts.ts";
import { PATHS } from "./paths.ts";

export interface ConnectView {
  /** The default MCP endpoint. */
  readonly endpoint: string;
  /** The same for clients of 2024-11-05 (HTTP+SSE). */
  readonly sseEndpoint: string;
  /** The upstream servers that have an endpoint of their own. */
  readonly servers: readonly { readonly name: string; readonly endpoint: string }[];
  /** For whoever runs the gateway. */
  readonly notices: readonly EntryNotice[];
  readonly signIn: ConnectSignIn;
  /** Only this machine can reach the gateway. */
  readonly isLoopback: boolean;
  readonly isAdmin: boolean;
}

export type ConnectSignIn =
  | { readonly kind: "none" }
  /** @param with the sign-in method, e.g. `GitHub` or `the owner code`. */
  | { readonly kind: "oauth"; readonly with: string };

export function connectView(model: ConnectView): View {
  const { endpoint, signIn, isLoopback } = model;
  const title = "Connect an application";
  const guides = clientGuides({
    name: "edgeway",
    url: endpoint,
    needsSignIn: signIn.kind === "oauth",
  });
  const body = html`
    <h1>${title}</h1>
    <p class="lede">One address, for every MCP client and every server behind this gateway.</p>
    ${stop(
      "MCP server URL",
      html`${copyable("the address", html`<p class="secret"><code>${endpoint}</code></p>`)}
        <p class="small">${signInSentence(signIn)}</p>
        ${
          isLoopback &&
          html`<p class="note">
            This gateway runs on your computer. Claude on the web and ChatGPT cannot reach it there;
            everything that runs on this computer can.
          </p>`
        }`,
      "good",
    )}
    ${
      model.notices.length > 0 &&
      part(
        "Not served as configured",
        "Only whoever runs this gateway reads this.",
        entryNotices(model.notices),
      )
    }
    <nav class="jump" aria-label="Clients">
      <ul class="chips">
        ${guides.map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>`)}
      </ul>
    </nav>
    ${guides.map((guide) => section(guide, isLoopback))} ${otherAddresses(model)}
  `;
  return {
    title,
    body,
    width: "wide",
    kind: "site",
    hasCopyButtons: true,
    nav: {
      current: "connect",
      isAdmin: model.isAdmin,
      ...(signIn.kind === "none" && { isLocal: true }),
    },
  };
}

function signInSentence(signIn: ConnectSignIn): Html {
  return signIn.kind === "none"
    ? html`There is no sign-in: this gateway serves this computer only.`
    : html`The first time, your browser opens: sign in with ${signIn.with} and approve.
        <a href="${PATHS.account}">Your account</a> shows what is connected.`;
}

function section(guide: ClientGuide, isLoopback: boolean): Html {
  const { id, name, open, steps = [], snippets = [], after } = guide;
  const isOutOfReach = guide.isHosted === true && isLoopback;
  return html`<section class="stop part" id="${id}">
    <h2>${name}</h2>
    ${isOutOfReach && html`<p class="small">Needs a gateway with a public address.</p>`}
    ${
      open !== undefined &&
      !isOutOfReach &&
      html`<p><a class="button plain" href="${open.href}" rel="noreferrer">${open.label}</a></p>`
    }
    ${steps.map((step) => html`<p>${step}</p>`)} ${snippets.map((each) => snippet(each, name))}
    ${after !== undefined && html`<p>${after}</p>`}
  </section>`;
}

function snippet({ label, text }: Snippet, client: string): Html {
  return copyable(
    `what goes ${label.replace(/^Or /, "").toLowerCase()}, for ${client}`,
    html`<p class="label">${label}</p>
      <pre><code>${text}</code></pre>`,
  );
}

function otherAddresses({ servers, sseEndpoint, signIn }: ConnectView): Html {
  const narrowed = html`<p class="small">
    An address of one server has that server’s tools alone, under their own names.
    ${signIn.kind === "oauth" && "One sign-in is good for all of them."}
  </p>`;
  return part(
    "Other addresses",
    undefined,
    html`<dl class="facts wide">
        ${servers.map(
          ({ name, endpoint }) =>
            html`<div>
              <dt>Only ${foreign(name, "?")}</dt>
              <dd class="host">${endpoint}</dd>
            </div>`,
        )}
        <div>
          <dt>Clients of 2024-11-05 (HTTP+SSE)</dt>
          <dd class="host">${sseEndpoint}</dd>
        </div>
      </dl>
      ${servers.length > 0 && narrowed}`,
  );
}
