/** The servers that operators have added, as they would stand in the configuration. */

import type { ExportedServers } from "../../observability/added-servers.ts";
import { html } from "./html.ts";
import type { Nav, View } from "./layout.ts";
import { part } from "./parts.ts";
import { PATHS } from "./paths.ts";
import { snippet } from "./snippets.ts";

export interface ExportView extends ExportedServers {
  readonly nav: Nav;
}

export function exportView({ nav, toml, secrets }: ExportView): View {
  const commands = secrets.map((name) => `npx wrangler secret put ${name}`).join("\n");
  const body = html`
    <p class="small back">
      <a href="${PATHS.admin}">Admin</a> · <a href="${PATHS.adminServers}">Servers</a>
    </p>
    <h1>Added servers as TOML</h1>
    ${
      toml === ""
        ? html`<p>No server has been added.</p>`
        : html`${part(
            "The servers",
            "What serves nobody here is switched off there. If MCP_SERVERS is one text there, make tables of it first. Once it is deployed, the entry there wins, and the added server can be removed; tools that were denied here stay denied.",
            snippet({ label: "In wrangler.toml", text: toml }, "the servers"),
          )}
          ${part(
            "Their secrets",
            "Each is set once, under the name that stands in the table. Their values are not here: nobody can read them back, so have them at hand.",
            secrets.length === 0
              ? html`<p>None of them has one.</p>`
              : snippet({ label: "In a terminal", text: commands }, "the secrets"),
          )}`
    }
  `;
  const title = "Added servers as TOML";
  return { title, body, width: "wide", kind: "site", nav, style: STYLE, hasCopyButtons: true };
}

const STYLE = ".back + h1 { margin-top: -1.25rem; }";
