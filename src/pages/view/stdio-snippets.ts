/**
 * The commands of `edgeway` with the address of this gateway: for hosts that can only start commands, and for servers
 * of a person's own machine.
 */

import { shellWord } from "../../lib/shell-word.ts";
import { type Html, html } from "./html.ts";
import type { ServerToConnect } from "./install-links.ts";
import { part } from "./parts.ts";
import { connectPath, PATHS } from "./paths.ts";
import { json, snippet, type Snippet, terminal } from "./snippets.ts";

/** A path that is to be replaced: the command is not published on a registry. */
const LAUNCHER = "/path/to/edgeway/cli/edgeway.mjs";

/** @param publishTo the default endpoint, where people may publish servers. */
export function stdioSnippets(
  { name, url }: ServerToConnect,
  publishTo: string | undefined,
): readonly Snippet[] {
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
    ...(publishTo === undefined ? [] : publishSnippets(publishTo)),
  ];
}

function publishSnippets(endpoint: string): readonly Snippet[] {
  const to = `--to ${shellWord(endpoint)}`;
  const server = "npx -y @modelcontextprotocol/server-filesystem ~/notes";
  return [
    {
      ...terminal(`npx edgeway publish files ${to} -- ${server}`),
      label: "The other way: to use a server of this machine from everywhere, alone",
    },
    {
      ...terminal(`npx edgeway publish --config ~/.cursor/mcp.json ${to}`),
      label: "Or all that a client starts on this machine",
    },
  ];
}

/** The same as a part of another page, without what the first page explains. @param endpoint the default one. */
export function stdioSection(endpoint: string, isPublishingOn: boolean): Html {
  const [entry, command] = stdioSnippets({ name: "edgeway", url: endpoint }, undefined);
  const published = isPublishingOn ? publishSnippets(endpoint) : [];
  const snippets = [entry, command, ...published].filter((each) => each !== undefined);
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
