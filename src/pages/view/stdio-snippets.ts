/** The commands of `edgeway` with the address of this gateway, for hosts that can only start commands. */

import { shellWord } from "../../lib/shell-word.ts";
import { type Html, html } from "./html.ts";
import type { ServerToConnect } from "./install-links.ts";
import { part } from "./parts.ts";
import { connectPath, PATHS } from "./paths.ts";
import { json, snippet, type Snippet, terminal } from "./snippets.ts";

/** A path that is to be replaced: the command is not published on a registry. */
const LAUNCHER = "/path/to/edgeway/cli/edgeway.mjs";

export function stdioSnippets({ name, url }: ServerToConnect): readonly Snippet[] {
  // Some hosts mangle arguments, so that the address is in the environment.
  const entry = { command: "node", args: [LAUNCHER, "connect"], env: { EDGEWAY_URL: url } };
  return [
    { label: "In the host’s configuration", text: json({ mcpServers: { [name]: entry } }) },
    {
      ...terminal(`npx edgeway connect ${shellWord(url)}`),
      label: "Or as a command, in the checkout",
    },
    {
      ...terminal(`npx edgeway status ${shellWord(url)}`),
      label: "Whether it would work, and what to do",
    },
  ];
}

/** The same as a part of another page, without what the first page explains. @param endpoint the default one. */
export function stdioSection(endpoint: string): Html {
  const snippets = stdioSnippets({ name: "edgeway", url: endpoint }).slice(0, 2);
  return part(
    "Hosts that start commands",
    "They reach this gateway by edgeway connect, which signs in by itself, once for all hosts of a machine.",
    html`${snippets.map((each) => snippet(each, "hosts that start commands"))}
      <p class="small">
        The command is not published on a registry:
        <a href="${connectPath("stdio")}">how to get it</a>, or
        <a href="${PATHS.mcpb}">download the bundle</a> for Claude Desktop.
      </p>`,
  );
}
