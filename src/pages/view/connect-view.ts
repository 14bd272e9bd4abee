/** The front page: instructions that connect one client to this gateway, and links to those for the others. */

import { CLIENT_NAMES, type ClientGuide, clientGuide, type ClientId } from "./client-guides.ts";
import { CONNECT_STYLE } from "./connect-style.ts";
import { entryNotices } from "./entry-notices.ts";
import { type Html, html } from "./html.ts";
import type { EntryNotice } from "../../observability/health.ts";
import type { View } from "./layout.ts";
import { copyable, foreign, part, stop } from "./parts.ts";
import { connectPath, PATHS } from "./paths.ts";
import { snippet } from "./snippets.ts";

export interface ConnectView {
  /** The default MCP endpoint. */
  readonly endpoint: string;
  /** The same for clients of 2024-11-05 (HTTP+SSE). */
  readonly sseEndpoint: string;
  /** The upstream servers that have an endpoint of their own. */
  readonly servers: readonly ServerEndpoint[];
  /** The one of them that the page is about; absent where it is about all of them together. */
  readonly server: ServerEndpoint | undefined;
  /** The client that the page is about. */
  readonly client: ClientId;
  /** For whoever runs the gateway. */
  readonly notices: readonly EntryNotice[];
  readonly signIn: ConnectSignIn;
  /** Only this machine can reach the gateway. */
  readonly isLoopback: boolean;
  /** People may publish servers of their own machines. */
  readonly isPublishingOn: boolean;
  readonly isAdmin: boolean;
}

interface ServerEndpoint {
  readonly slug: string;
  readonly name: string;
  readonly endpoint: string;
}

export type ConnectSignIn =
  | { readonly kind: "none" }
  /** @param with the sign-in method, e.g. `GitHub` or `the owner code`. */
  | { readonly kind: "oauth"; readonly with: string };

export function connectView(model: ConnectView): View {
  const { client, server, signIn, isLoopback } = model;
  const title = "Connect an application";
  const url = server?.endpoint ?? model.endpoint;
  const guide = clientGuide(client, {
    name: server?.slug ?? "edgeway",
    url,
    needsSignIn: signIn.kind === "oauth",
    publishTo: model.isPublishingOn ? model.endpoint : undefined,
  });
  const body = html`
    <h1>${title}</h1>
    <p class="lede">
      One address, for every MCP client and <a href="${PATHS.catalog}">every server</a> behind this
      gateway.
    </p>
    ${stop(
      "MCP server URL",
      html`${copyable("the address", html`<p class="secret"><code>${url}</code></p>`)}
        ${model.servers.length > 0 && html`<p class="small">${reach(model)}</p>`}
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
    ${clients(model)} ${section(guide, isLoopback)} ${otherAddresses(model)}
  `;
  return {
    title,
    body,
    width: "wide",
    kind: "site",
    hasCopyButtons: true,
    style: CONNECT_STYLE,
    nav: {
      current: "connect",
      isAdmin: model.isAdmin,
      ...(signIn.kind === "none" && { isLocal: true }),
    },
  };
}

/** What the address gives, where there are others. */
function reach({ server, client }: ConnectView): Html {
  return server === undefined
    ? html`All servers together. <a href="#addresses">One of them alone</a>`
    : html`The tools of ${foreign(server.name, server.slug)} alone, under their own names.
        <a href="${connectPath(client)}">All servers together</a>`;
}

function signInSentence(signIn: ConnectSignIn): Html {
  return signIn.kind === "none"
    ? html`It serves this computer only, and asks nobody who they are.`
    : html`The first time, your browser opens: sign in with ${signIn.with} and approve.
        <a href="${PATHS.account}">Your account</a> shows what is connected.`;
}

/** Links, because they need no script, and each has an address that can be sent to somebody. */
function clients({ client, server }: ConnectView): Html {
  return html`<nav class="jump" aria-label="Clients">
    <ul class="chips">
      ${CLIENT_NAMES.map(([id, name]) => {
        const href = `${connectPath(id, server?.slug)}#${id}`;
        const isCurrent = id === client && html`aria-current="true"`;
        return html`<li><a href="${href}" ${isCurrent}>${name}</a></li>`;
      })}
    </ul>
  </nav>`;
}

function section(guide: ClientGuide, isLoopback: boolean): Html {
  const { id, name, links = [], webLinks = [], steps = [], snippets = [], after } = guide;
  const isOutOfReach = guide.isHosted === true && isLoopback;
  if (isOutOfReach) {
    return html`<section class="stop part chosen" id="${id}">
      <h2>${name}</h2>
      <p>
        Needs a gateway with a public address.
        ${
          guide.sibling !== undefined &&
          html`<a href="${connectPath(guide.sibling)}">Claude Desktop</a> can reach this one.`
        }
      </p>
    </section>`;
  }
  return html`<section class="stop part chosen" id="${id}">
    <h2>${name}</h2>
    ${
      links.length > 0 &&
      html`<p class="links">
        ${links.map(
          ({ label, href }, n) =>
            html`<a class="button ${n === 0 ? "primary" : "plain"}" href="${href}" rel="noreferrer"
              >${label}</a
            >`,
        )}
      </p>`
    }
    ${
      webLinks.length > 0 &&
      html`<p class="small">
        If nothing opens, go by way of the website:
        ${webLinks.map(
          ({ label, href }, n) =>
            html`${n > 0 && ", "}<a href="${href}" rel="noreferrer">${label}</a>`,
        )}
      </p>`
    }
    ${steps.map((step) => html`<p>${step}</p>`)} ${snippets.map((each) => snippet(each, name))}
    ${after !== undefined && html`<p>${after}</p>`}
  </section>`;
}

function otherAddresses(model: ConnectView): Html {
  const { endpoint, servers, server, client, sseEndpoint, signIn } = model;
  const rows: readonly (readonly [label: Html | string, href: string, address: string])[] = [
    ...(server === undefined ? [] : [["All servers", connectPath(client), endpoint] as const]),
    ...servers
      .filter((each) => each !== server)
      .map((each) => {
        const label = html`Only ${foreign(each.name, each.slug)}`;
        return [label, connectPath(client, each.slug), each.endpoint] as const;
      }),
  ];
  return html`<section class="stop part" id="addresses">
    <h2>Other addresses</h2>
    <dl class="facts wide">
      ${rows.map(
        ([label, href, address]) =>
          html`<div>
            <dt>${label}</dt>
            <dd class="host"><a href="${href}">${address}</a></dd>
          </div>`,
      )}
      <div>
        <dt>Clients of 2024-11-05 (HTTP+SSE)</dt>
        <dd class="host">${sseEndpoint}</dd>
      </div>
    </dl>
    ${
      servers.length > 0 &&
      signIn.kind === "oauth" &&
      html`<p class="small">One sign-in is good for all of them.</p>`
    }
  </section>`;
}
