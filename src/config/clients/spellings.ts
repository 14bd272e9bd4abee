/** The keys that MCP clients write into an entry of their map, beside those of this gateway, and what they become here. */

/** What a key becomes. */
export type Meaning =
  /** Another name of that key. */
  | "url"
  | "type"
  | "headers"
  | "timeoutSeconds"
  /** The name of the secret that is the bearer token. */
  | "token"
  /** The names of the secrets that are the values of headers. */
  | "secret-headers"
  /** A list of names that `tools.allow` or `tools.deny` gets. */
  | "allow"
  | "deny"
  /** `true`, or `false`, switches the server off. */
  | "off-if-true"
  | "off-if-false"
  /** The server is a program, which the client starts. */
  | "program"
  /** It concerns the client alone. */
  | "ignored";

/** `npm run docs` makes the table of docs/configuration.md of this, with the clients in the comments. */
export const SPELLINGS: Readonly<Record<string, Meaning>> = {
  /** Gemini CLI */
  httpUrl: "url",
  /** Windsurf */
  serverUrl: "url",
  /** Goose */
  uri: "url",
  /** Cline */
  transportType: "type",
  /** Codex */
  http_headers: "headers",
  /** Codex */
  env_http_headers: "secret-headers",
  /** Codex */
  bearer_token_env_var: "token",
  /** Codex */
  tool_timeout_sec: "timeoutSeconds",
  /** Gemini CLI */
  includeTools: "allow",
  /** Codex */
  enabled_tools: "allow",
  /** Gemini CLI */
  excludeTools: "deny",
  /** Roo Code, Windsurf, Kiro */
  disabledTools: "deny",
  /** Codex */
  disabled_tools: "deny",
  /** Claude Desktop, Cline, Roo Code, Windsurf, LM Studio, opencode */
  disabled: "off-if-true",
  /** Zed, Codex, opencode */
  enabled: "off-if-false",
  /** all clients */
  command: "program",
  /** all clients */
  args: "ignored",
  /** all clients */
  env: "ignored",
  /** opencode */
  environment: "ignored",
  /** VS Code, Cursor */
  envFile: "ignored",
  /** VS Code, Gemini CLI, Codex, opencode */
  cwd: "ignored",
  /** Cline, Gemini CLI, Roo Code, opencode, in different units */
  timeout: "ignored",
  /** Codex */
  startup_timeout_sec: "ignored",
  /** Codex */
  startup_timeout_ms: "ignored",
  /** Cline, Windsurf, Kiro */
  autoApprove: "ignored",
  /** Roo Code */
  alwaysAllow: "ignored",
  /** Gemini CLI */
  trust: "ignored",
  /** Codex */
  default_tools_approval_mode: "ignored",
  /** Codex */
  supports_parallel_tool_calls: "ignored",
  /** Codex */
  required: "ignored",
  /** Goose */
  name: "ignored",
  /** Gemini CLI, Goose */
  description: "ignored",
  /** VS Code */
  gallery: "ignored",
  /** VS Code */
  version: "ignored",
  /** VS Code */
  dev: "ignored",
  /** VS Code */
  sandboxEnabled: "ignored",
  /** VS Code */
  sandbox: "ignored",
  /** Roo Code */
  watchPaths: "ignored",
  /** Zed */
  source: "ignored",
  /** Zed */
  settings: "ignored",
};

/** The keys around the map: all but `mcp` have nothing else in them. */
export const WRAPPERS = {
  /** Claude Desktop, Claude Code, Cursor, Windsurf, Gemini CLI, Cline, Roo Code, LM Studio */
  mcpServers: "map",
  /** VS Code */
  servers: "map",
  /** Zed */
  context_servers: "map",
  /** Codex */
  mcp_servers: "map",
  /** opencode, and VS Code's settings */
  mcp: "settings",
} as const;

/** How a client calls a transport. Streamable HTTP may turn out to be HTTP+SSE. */
const TRANSPORTS: Readonly<Record<string, "http" | "sse" | "stdio">> = {
  ...{ http: "http", streamablehttp: "http", remote: "http" },
  ...{ sse: "sse", stdio: "stdio", local: "stdio" },
};

/** @returns `undefined` for what no client writes. */
export function transportOf(spelled: unknown): "http" | "sse" | "stdio" | undefined {
  if (typeof spelled !== "string") return undefined;
  const plain = spelled.toLowerCase().replaceAll(/[-_ ]/g, "");
  return Object.hasOwn(TRANSPORTS, plain) ? TRANSPORTS[plain] : undefined;
}
