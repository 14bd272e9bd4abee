/**
 * Instructions that connect each MCP client to a server, with the client's own commands and links.
 * Menu names change more often than URLs do, so the text stays short and the links do the work.
 */

export interface ClientGuide {
  /** The id of its section on the page. */
  readonly id: string;
  readonly name: string;
  /** A link that opens the client with everything filled in. */
  readonly open?: { readonly label: string; readonly href: string };
  /** The first steps. */
  readonly steps?: readonly string[];
  readonly snippets?: readonly Snippet[];
  /** The step after them. */
  readonly after?: string;
  /**
   * The client connects from its own servers, not from the person's machine: it cannot reach a
   * gateway on loopback.
   */
  readonly isHosted?: boolean;
}

export interface Snippet {
  /** The place for it, e.g. `In a terminal`. */
  readonly label: string;
  readonly text: string;
}

export interface ServerToConnect {
  /** The name of the gateway in the client. */
  readonly name: string;
  /** The URL of the MCP endpoint. */
  readonly url: string;
  readonly needsSignIn: boolean;
}

const REVISION = "2026-07-28";

export function clientGuides(server: ServerToConnect): readonly ClientGuide[] {
  return [
    claude(server),
    claudeCode(server),
    chatGpt(server),
    vsCode(server),
    cursor(server),
  ].concat([geminiCli(server), codex(server), inspector(server), stdioOnly(server), curl(server)]);
}

function claude({ name, url }: ServerToConnect): ClientGuide {
  const query = new URLSearchParams({
    modal: "add-custom-connector",
    connectorName: name,
    connectorUrl: url,
  });
  return {
    id: "claude",
    name: "Claude",
    isHosted: true,
    open: {
      label: "Add to Claude",
      href: `https://claude.ai/customize/connectors?${query.toString()}`,
    },
    steps: [
      "On the web, in Claude Desktop and on a phone: open Customize, then Connectors, add a custom connector, and paste the address.",
    ],
  };
}

function claudeCode({ name, url, needsSignIn }: ServerToConnect): ClientGuide {
  return {
    id: "claude-code",
    name: "Claude Code",
    snippets: [terminal(`claude mcp add --transport http --scope user ${name} ${url}`)],
    ...(needsSignIn && { after: "Then type /mcp in a session and choose to authenticate." }),
  };
}

function chatGpt(_server: ServerToConnect): ClientGuide {
  return {
    id: "chatgpt",
    name: "ChatGPT",
    isHosted: true,
    steps: [
      "In Settings, under Apps, open the advanced settings and turn developer mode on. In a workspace, an admin does that.",
      "Create an app, paste the address as the MCP server URL, and choose OAuth.",
    ],
  };
}

function vsCode({ name, url }: ServerToConnect): ClientGuide {
  const config = { name, type: "http", url };
  return {
    id: "vs-code",
    name: "VS Code",
    open: {
      label: "Install in VS Code",
      href: `vscode:mcp/install?${encodeURIComponent(JSON.stringify(config))}`,
    },
    snippets: [
      terminal(`code --add-mcp '${JSON.stringify(config)}'`),
      {
        label: "Or in .vscode/mcp.json",
        text: json({ servers: { [name]: { type: "http", url } } }),
      },
    ],
  };
}

function cursor({ name, url }: ServerToConnect): ClientGuide {
  const query = new URLSearchParams({ name, config: base64(JSON.stringify({ url })) });
  return {
    id: "cursor",
    name: "Cursor",
    open: {
      label: "Install in Cursor",
      href: `cursor://anysphere.cursor-deeplink/mcp/install?${query.toString()}`,
    },
    snippets: [
      { label: "Or in ~/.cursor/mcp.json", text: json({ mcpServers: { [name]: { url } } }) },
    ],
  };
}

function geminiCli({ name, url, needsSignIn }: ServerToConnect): ClientGuide {
  return {
    id: "gemini-cli",
    name: "Gemini CLI",
    snippets: [terminal(`gemini mcp add --transport http --scope user ${name} ${url}`)],
    ...(needsSignIn && { after: `Then type /mcp auth ${name} in a session.` }),
  };
}

function codex({ name, url, needsSignIn }: ServerToConnect): ClientGuide {
  const login = needsSignIn ? `\ncodex mcp login ${name}` : "";
  return {
    id: "codex",
    name: "Codex",
    snippets: [terminal(`codex mcp add ${name} --url ${url}${login}`)],
  };
}

function inspector({ url }: ServerToConnect): ClientGuide {
  return {
    id: "inspector",
    name: "MCP Inspector",
    snippets: [
      terminal(`npx @modelcontextprotocol/inspector --transport http --server-url ${url}`),
    ],
  };
}

function stdioOnly({ name, url }: ServerToConnect): ClientGuide {
  const server = { command: "npx", args: ["-y", "mcp-remote", url] };
  return {
    id: "other",
    name: "Other clients",
    steps: ["Where a client can only start local servers, a small program stands in between."],
    snippets: [
      { label: "In the client’s configuration", text: json({ mcpServers: { [name]: server } }) },
    ],
  };
}

function curl({ url, needsSignIn }: ServerToConnect): ClientGuide {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: meta } };
  const lines = [
    `curl -s ${url}`,
    ...(needsSignIn ? [`-H "Authorization: Bearer $EDGEWAY_KEY"`] : []),
    `-H 'Content-Type: application/json'`,
    `-H 'Accept: application/json, text/event-stream'`,
    `-H 'MCP-Protocol-Version: ${REVISION}' -H 'Mcp-Method: tools/list'`,
    `-d '${JSON.stringify(body)}'`,
  ];
  return {
    id: "curl",
    name: "curl",
    ...(needsSignIn && {
      steps: [
        "Without a browser: create an API key on your account page and put it in EDGEWAY_KEY.",
      ],
    }),
    snippets: [terminal(lines.join(" \\\n  "))],
  };
}

function terminal(text: string): Snippet {
  return { label: "In a terminal", text };
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
