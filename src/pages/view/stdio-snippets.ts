/** The commands of `edgeway` with the address of this gateway, for hosts that can only start commands. */

import { shellWord } from "../../lib/shell-word.ts";
import type { ServerToConnect } from "./install-links.ts";
import { json, type Snippet, terminal } from "./snippets.ts";

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
