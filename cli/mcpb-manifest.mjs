/**
 * The manifest of the bundle of `edgeway connect` for Claude Desktop (MCPB manifest 0.3). It has no address and no
 * key in it: the application asks for them, and keeps a key with the passwords of the machine.
 *
 * @param {string} version of the command.
 */
export function mcpbManifest(version) {
  return {
    manifest_version: "0.3",
    name: "edgeway",
    display_name: "Edgeway",
    version,
    description: "Reaches an Edgeway gateway, on this machine too, with one login for all hosts.",
    author: { name: "Edgeway" },
    license: "MIT",
    server: {
      type: "node",
      entry_point: MCPB_ENTRY,
      mcp_config: {
        command: "node",
        args: [`\${__dirname}/${MCPB_ENTRY}`, "connect"],
        env: { EDGEWAY_URL: "${user_config.url}", EDGEWAY_KEY: "${user_config.key}" },
      },
    },
    // What the gateway has is known when it is asked.
    tools_generated: true,
    prompts_generated: true,
    user_config: {
      url: {
        type: "string",
        title: "Address of the gateway",
        description: "Its MCP server URL, as its first page shows it: https://mcp.example.com/mcp",
        required: true,
      },
      key: {
        type: "string",
        title: "API key",
        description: "Leave it empty to sign in with the browser, as usual.",
        sensitive: true,
        required: false,
        // A variable without a value would stay as it is written.
        default: "",
      },
    },
    compatibility: { platforms: ["darwin", "win32", "linux"], runtimes: { node: ">=20.3" } },
  };
}

/** The one file of the command. */
export const MCPB_ENTRY = "server/edgeway.mjs";
