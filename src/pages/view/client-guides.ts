/**
 * Instructions that connect each MCP client to a server, with the client's own commands and links.
 * Menu names change more often than URLs do, so the text stays short and the links do the work.
 */

import { shellWord } from "../../lib/shell-word.ts";
import {
  claudeLink,
  cursorLink,
  cursorWebLink,
  gooseLink,
  kiroLink,
  lmStudioLink,
  lmStudioWebLink,
  type ServerToConnect,
  vsCodeLink,
  vsCodeWebLink,
} from "./install-links.ts";
import { PATHS } from "./paths.ts";
import { json, type Snippet, terminal } from "./snippets.ts";
import { stdioSnippets } from "./stdio-snippets.ts";

export interface ClientGuide {
  readonly id: string;
  readonly name: string;
  /** Links that open the client with everything filled in. */
  readonly links?: readonly InstallLink[];
  /** The same by way of the client's website, for browsers that open no applications. */
  readonly webLinks?: readonly InstallLink[];
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
  /** Its sibling that connects from the person's machine. */
  readonly sibling?: "claude-desktop";
}

interface InstallLink {
  readonly label: string;
  readonly href: string;
}

export interface GuidedServer extends ServerToConnect {
  readonly needsSignIn: boolean;
  /** The default endpoint, where people may publish servers of their own machines. */
  readonly publishTo?: string | undefined;
}

type Guide = (server: GuidedServer) => Omit<ClientGuide, "id" | "name">;

/** In the order of the page. */
const CLIENTS = {
  claude: ["Claude", claude],
  "claude-desktop": ["Claude Desktop", claudeDesktop],
  "claude-code": ["Claude Code", claudeCode],
  chatgpt: ["ChatGPT", chatGpt],
  perplexity: ["Perplexity", perplexity],
  "vs-code": ["VS Code", vsCode],
  cursor: ["Cursor", cursor],
  kiro: ["Kiro", kiro],
  "lm-studio": ["LM Studio", lmStudio],
  goose: ["Goose", goose],
  "gemini-cli": ["Gemini CLI", geminiCli],
  codex: ["Codex", codex],
  devin: ["Devin", devin],
  inspector: ["MCP Inspector", inspector],
  stdio: ["Hosts that start commands", stdio],
  curl: ["curl", curl],
} as const satisfies Readonly<Record<string, readonly [name: string, guide: Guide]>>;

export type ClientId = keyof typeof CLIENTS;

export const CLIENT_NAMES: readonly (readonly [id: ClientId, name: string])[] = Object.entries(
  CLIENTS,
).map(([id, [name]]) => [id as ClientId, name]);

export function isClientId(id: string): id is ClientId {
  return Object.hasOwn(CLIENTS, id);
}

export function clientGuide(id: ClientId, server: GuidedServer): ClientGuide {
  const [name, guide] = CLIENTS[id];
  return { id, name, ...guide(server) };
}

function claude(server: GuidedServer): ReturnType<Guide> {
  return {
    isHosted: true,
    sibling: "claude-desktop",
    links: [
      { label: "Add to Claude", href: claudeLink(server, "customize") },
      { label: "Add for an organization", href: claudeLink(server, "admin-settings") },
    ],
    steps: [
      "On the web, in Claude Desktop and on a phone: open Customize, then Connectors, add a custom connector, and paste the address. In an organization an owner adds it first, once for everybody.",
    ],
  };
}

function claudeDesktop({ needsSignIn }: GuidedServer): ReturnType<Guide> {
  return {
    links: [DOWNLOAD],
    steps: [
      "It shows the connectors of Claude as well. The bundle is for a gateway that Claude’s own servers cannot reach: it runs edgeway connect on your computer.",
      "Open the file with Claude Desktop, or drag it into the Extensions of its settings. It asks for the address of the gateway.",
    ],
    ...(needsSignIn && {
      after: "Leave the API key empty. The first start opens a page to sign in.",
    }),
  };
}

/** `cli/pack-mcpb.mjs` makes it. */
const DOWNLOAD = { label: "Download edgeway.mcpb", href: PATHS.mcpb };

function claudeCode({ name, url, needsSignIn }: GuidedServer): ReturnType<Guide> {
  const add = `claude mcp add --transport http --scope user ${shellWord(name)} ${shellWord(url)}`;
  const login = needsSignIn ? `\nclaude mcp login ${shellWord(name)}` : "";
  return {
    snippets: [terminal(add + login)],
    ...(needsSignIn && { after: "In a session, /mcp signs in as well." }),
  };
}

function chatGpt(): ReturnType<Guide> {
  return {
    isHosted: true,
    steps: [
      "In Settings, under Apps, open the advanced settings and turn developer mode on. In a workspace, an admin does that.",
      "Create an app, paste the address as the MCP server URL, and choose OAuth.",
    ],
  };
}

function perplexity(): ReturnType<Guide> {
  return {
    isHosted: true,
    steps: [
      "In the account settings, under Connectors, add a custom connector and choose Remote. In an organization, an admin allows that.",
      "Paste the address as the MCP server URL, and choose OAuth and Streamable HTTP.",
    ],
  };
}

function vsCode(server: GuidedServer): ReturnType<Guide> {
  const { name, url } = server;
  const entry = { type: "http", url };
  return {
    links: [
      { label: "Install in VS Code", href: vsCodeLink(server, "vscode") },
      { label: "Install in Insiders", href: vsCodeLink(server, "vscode-insiders") },
    ],
    webLinks: [
      { label: "VS Code", href: vsCodeWebLink(server) },
      { label: "Insiders", href: vsCodeWebLink(server, "insiders") },
    ],
    snippets: [
      terminal(`code --add-mcp ${shellWord(JSON.stringify({ name, ...entry }))}`),
      { label: "Or in .vscode/mcp.json", text: json({ servers: { [name]: entry } }) },
    ],
  };
}

function cursor(server: GuidedServer): ReturnType<Guide> {
  return {
    links: [{ label: "Install in Cursor", href: cursorLink(server) }],
    webLinks: [{ label: "Cursor", href: cursorWebLink(server) }],
    snippets: [entryIn("Or in ~/.cursor/mcp.json", server)],
  };
}

function kiro(server: GuidedServer): ReturnType<Guide> {
  return {
    links: [{ label: "Add to Kiro", href: kiroLink(server) }],
    snippets: [entryIn("Or in ~/.kiro/settings/mcp.json", server)],
  };
}

function lmStudio(server: GuidedServer): ReturnType<Guide> {
  return {
    links: [{ label: "Add to LM Studio", href: lmStudioLink(server) }],
    webLinks: [{ label: "LM Studio", href: lmStudioWebLink(server) }],
    snippets: [entryIn("Or in mcp.json, under Program, Install", server)],
  };
}

function goose(server: GuidedServer): ReturnType<Guide> {
  const url = shellWord(server.url);
  return {
    links: [{ label: "Install in Goose", href: gooseLink(server) }],
    snippets: [
      { ...terminal(`goose session --with-streamable-http-extension ${url}`), label: "Or once" },
    ],
  };
}

function geminiCli({ name, url, needsSignIn }: GuidedServer): ReturnType<Guide> {
  const words = `${shellWord(name)} ${shellWord(url)}`;
  return {
    snippets: [terminal(`gemini mcp add --transport http --scope user ${words}`)],
    ...(needsSignIn && { after: `Then type /mcp auth ${name} in a session.` }),
  };
}

function codex({ name, url, needsSignIn }: GuidedServer): ReturnType<Guide> {
  const login = needsSignIn ? `\ncodex mcp login ${shellWord(name)}` : "";
  return {
    snippets: [terminal(`codex mcp add ${shellWord(name)} --url ${shellWord(url)}${login}`)],
  };
}

function devin({ name, url, needsSignIn }: GuidedServer): ReturnType<Guide> {
  const login = needsSignIn ? `\ndevin mcp login ${shellWord(name)}` : "";
  return {
    snippets: [terminal(`devin mcp add -s user ${shellWord(name)} ${shellWord(url)}${login}`)],
  };
}

function inspector({ url }: GuidedServer): ReturnType<Guide> {
  const command = "npx @modelcontextprotocol/inspector --transport http --server-url";
  return { snippets: [terminal(`${command} ${shellWord(url)}`)] };
}

function stdio(server: GuidedServer): ReturnType<Guide> {
  return {
    steps: [
      "Some hosts can only start local servers. They start edgeway connect, which relays between them and this gateway.",
      "The command is not published on a package registry. It is in Edgeway’s repository, once npm ci has run there, and alone in the bundle, which any unzip unpacks: server/edgeway.mjs. Put the path of either in place of the one below. It needs Node 20.3 or later.",
    ],
    links: [DOWNLOAD],
    snippets: stdioSnippets(server, server.publishTo),
    ...(server.needsSignIn && {
      after: "The first start opens a page to sign in, once for all hosts of the machine.",
    }),
  };
}

const REVISION = "2026-07-28";

function curl({ url, needsSignIn }: GuidedServer): ReturnType<Guide> {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: meta } };
  const lines = [
    `curl -s ${shellWord(url)}`,
    ...(needsSignIn ? [`-H "Authorization: Bearer $EDGEWAY_KEY"`] : []),
    `-H 'Content-Type: application/json'`,
    `-H 'Accept: application/json, text/event-stream'`,
    `-H 'MCP-Protocol-Version: ${REVISION}' -H 'Mcp-Method: tools/list'`,
    `-d '${JSON.stringify(body)}'`,
  ];
  return {
    ...(needsSignIn && {
      steps: [
        "Without a browser: create an API key on your account page and put it in EDGEWAY_KEY.",
      ],
    }),
    snippets: [terminal(lines.join(" \\\n  "))],
  };
}

function entryIn(label: string, { name, url }: GuidedServer): Snippet {
  return { label, text: json({ mcpServers: { [name]: { url } } }) };
}
