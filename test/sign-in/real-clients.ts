/**
 * What the clients that people use send, as far as it is known: how each says who it is, where it
 * listens, and how it names the endpoint.
 */

import { serveAt, serveJsonAt } from "./canary.ts";
import { ORIGIN } from "./gateway.ts";
import { type Habits, MCP } from "./real-client.ts";
import { Signer } from "./signing.ts";

const CLAUDE_CODE = "https://claude.ai/oauth/claude-code-client-metadata";
const CHATGPT = "https://chatgpt.com/oauth/client.json";
const CHATGPT_KEYS = "https://chatgpt.com/oauth/jwks.json";
const CONNECTOR = "https://chatgpt.com/oauth/c0nnect0r/client.json";
const CODEX = "https://chatgpt.com/oauth/codex/client.json";
const CODEX_OF_A_SERVER = "https://chatgpt.com/oauth/codex/EDrLtgxAifwZ/client.json";
const VSCODE = "https://vscode.dev/oauth/client-metadata.json";
const ZED = "https://zed.dev/oauth/client-metadata.json";
const OPENCODE = "https://opencode.ai/oauth/opencode/client.json";
export const CLAUDE = "https://claude.ai/oauth/mcp-oauth-client-metadata";

const PUBLIC = {
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};
const CLAUDE_CALLBACK = "https://claude.ai/api/mcp/auth_callback";
const CLAUDE_CALLBACKS = [CLAUDE_CALLBACK, "https://claude.com/api/mcp/auth_callback"] as const;
const CONNECTOR_CALLBACK = "https://chatgpt.com/connector/oauth/c0nnect0r";

let chatGptsKey: Signer | undefined;

/** Puts the documents and keys where these clients have them. Before the first request of a file. */
export async function serveDocuments(): Promise<void> {
  chatGptsKey = await Signer.make("RS256");
  const documents = {
    [CLAUDE]: { ...PUBLIC, client_name: "Claude", redirect_uris: CLAUDE_CALLBACKS },
    [CONNECTOR]: {
      ...{ ...PUBLIC, client_name: "ChatGPT", logo_uri: "https://chatgpt.com/logo.png" },
      redirect_uris: [CONNECTOR_CALLBACK],
      token_endpoint_auth_method: "private_key_jwt",
      token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
      token_endpoint_auth_signing_alg: "RS256",
      jwks_uri: CHATGPT_KEYS,
    },
    [VSCODE]: {
      ...{ ...PUBLIC, client_name: "Visual Studio Code", application_type: "native" },
      redirect_uris: ["http://127.0.0.1:33418/", "https://vscode.dev/redirect"],
    },
  };
  for (const [client_id, document] of Object.entries(documents)) {
    await serveJsonAt(client_id, { client_id, ...document });
  }
  await serveJsonAt(CHATGPT_KEYS, chatGptsKey.jwks);
  // As some of their servers meet a data centre, or do not: a copy has to stand in.
  const html = { "Content-Type": "text/html" };
  await serveAt(CLAUDE_CODE, { status: 403, headers: html, body: "<h1>Are you human?</h1>" });
  await serveAt(CHATGPT, { status: 302, headers: { Location: "https://chatgpt.com/login" } });
  for (const url of [CODEX, CODEX_OF_A_SERVER, ZED, OPENCODE]) await serveAt(url, { status: 503 });
}

const bySecret: Habits["prove"] = ({ client_secret }) => ({ client_secret });
const bySignature: Habits["prove"] = ({ client_id }) => {
  if (chatGptsKey === undefined) throw new Error("Its keys are not served yet");
  return chatGptsKey.parameters(client_id);
};

const claude = { userAgent: "Claude-User", name: "Claude", redirectUri: CLAUDE_CALLBACK };
const registeredClaude = {
  ...{ ...claude, prove: bySecret },
  identity: {
    ...{ ...PUBLIC, client_name: "Claude", redirect_uris: CLAUDE_CALLBACKS, scope: "mcp" },
    token_endpoint_auth_method: "client_secret_post",
  },
};
const claudeCode = {
  ...{ userAgent: "claude-code/2.1.258 (cli)", name: "Claude Code", identity: CLAUDE_CODE },
  ...{ redirectUri: "http://127.0.0.1:61999/callback", resource: `${ORIGIN}/` },
};
const connector = {
  ...{ userAgent: "openai-mcp/1.0.0", name: "ChatGPT", identity: CONNECTOR },
  redirectUri: CONNECTOR_CALLBACK,
};
const codex = { userAgent: "codex_cli_rs/0.99.0", name: "Codex" };
const vscode = {
  ...{ userAgent: "node", name: "Visual Studio Code", identity: VSCODE },
  redirectUri: "https://vscode.dev/redirect",
  // An address of the editor, for the page at `redirect` to open.
  state: "vscode://dynamicauthprovider/gw.example.com/authorize?nonce=d3f%2Bx%3D&windowId=1",
};
const registeredVscode = {
  ...vscode,
  identity: {
    client_name: "Visual Studio Code",
    client_uri: "https://code.visualstudio.com",
    grant_types: [
      ...["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
    ],
    response_types: ["code"],
    redirect_uris: [
      ...["https://insiders.vscode.dev/redirect", "https://vscode.dev/redirect"],
      ...["http://127.0.0.1/", "http://127.0.0.1:33418/"],
    ],
    scope: "mcp",
    token_endpoint_auth_method: "none",
    application_type: "native",
  },
};
const cursor = {
  ...{ userAgent: "node", name: "Cursor", redirectUri: "http://localhost:8787/callback" },
  identity: {
    ...{ ...PUBLIC, client_name: "Cursor" },
    redirect_uris: [
      "cursor://anysphere.cursor-mcp/oauth/callback",
      "https://www.cursor.com/agents/mcp/oauth/callback",
      "http://localhost:8787/callback",
    ],
  },
};

/** One that registers nothing out of the ordinary, at one address. */
function plain(name: string, redirectUri: string, more: object = {}): Habits {
  const identity = { ...PUBLIC, client_name: name, redirect_uris: [redirectUri], ...more };
  return { userAgent: "node", name, redirectUri, identity };
}

export const CLIENTS = {
  Claude: { ...claude, identity: CLAUDE },
  "Claude at claude.com": { ...claude, identity: CLAUDE, redirectUri: CLAUDE_CALLBACKS[1] },
  "Claude, registered": registeredClaude,
  "Claude at claude.com, registered": { ...registeredClaude, redirectUri: CLAUDE_CALLBACKS[1] },
  "Claude Code": claudeCode,
  "Claude Code at localhost": { ...claudeCode, redirectUri: "http://localhost:54545/callback" },
  "Claude Code without a resource": { ...claudeCode, resource: null },
  ChatGPT: {
    ...{ ...connector, identity: CHATGPT, prove: bySignature },
    redirectUri: "https://chatgpt.com/connector_platform_oauth_redirect",
  },
  "a connector of ChatGPT": { ...connector, prove: bySignature },
  "a connector of ChatGPT that does not sign": connector,
  "Codex, with a slash too many": {
    ...{ ...codex, identity: CODEX, resource: `${MCP}/` },
    redirectUri: "http://127.0.0.1:1455/callback",
  },
  "an older Codex, which says as little as it can": {
    ...{ ...codex, identity: CODEX_OF_A_SERVER, resource: null, scope: null },
    redirectUri: "http://localhost:40123/callback/EDrLtgxAifwZ",
  },
  "VS Code": vscode,
  "VS Code on its port": { ...vscode, redirectUri: "http://127.0.0.1:33418/" },
  "VS Code on another port": { ...vscode, redirectUri: "http://127.0.0.1:51234/" },
  "VS Code, registered": registeredVscode,
  "VS Code, registered, on another port": {
    ...{ ...registeredVscode, redirectUri: "http://127.0.0.1:51234/" },
  },
  Cursor: cursor,
  "Cursor in the cloud": {
    ...{ ...cursor, redirectUri: "https://www.cursor.com/agents/mcp/oauth/callback" },
  },
  "Cursor by its scheme": {
    ...{ ...cursor, redirectUri: "cursor://anysphere.cursor-mcp/oauth/callback" },
  },
  "mcp-remote": plain("MCP CLI Proxy", "http://localhost:12345/oauth/callback", {
    client_uri: "https://github.com/modelcontextprotocol/mcp-cli",
    software_id: "2e6dc280-f3c3-4e01-99a7-8181dbd1d23d",
    software_version: "0.1.38",
    scope: "openid profile email",
  }),
  "the Inspector": plain("MCP Inspector", "http://localhost:6274/oauth/callback", {
    client_uri: "https://github.com/modelcontextprotocol/inspector",
    application_type: "native",
    scope: "",
  }),
  "Gemini CLI": plain("Gemini CLI MCP Client", "http://localhost:7777/oauth/callback", {
    scope: "mcp",
  }),
  Windsurf: plain("Windsurf", "http://127.0.0.1:43110/oauth/callback"),
  Perplexity: plain("Perplexity", "https://www.perplexity.ai/rest/connections/oauth_callback"),
  Zed: {
    ...{ userAgent: "Zed/1.0", name: "Zed", identity: ZED },
    redirectUri: "http://127.0.0.1:50100/callback",
  },
  OpenCode: {
    ...{ userAgent: "opencode", name: "opencode", identity: OPENCODE },
    redirectUri: "http://127.0.0.1:19876/callback",
  },
} as const satisfies Readonly<Record<string, Habits>>;
