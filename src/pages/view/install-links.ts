/**
 * Links that open a client with a server filled in, each in the form that the client documents. No link
 * ever has a secret in it: addresses are kept in histories and logs.
 */

export interface ServerToConnect {
  /** The name of the server in the client. */
  readonly name: string;
  /** The URL of the MCP endpoint. */
  readonly url: string;
}

/** The dialog that adds a connector, of claude.ai: for oneself, or for all of an organization. */
export function claudeLink(
  { name, url }: ServerToConnect,
  page: "customize" | "admin-settings",
): string {
  const query = { modal: "add-custom-connector", connectorName: name, connectorUrl: url };
  return `https://claude.ai/${page}/connectors?${queryOf(query)}`;
}

export function vsCodeLink(
  { name, url }: ServerToConnect,
  scheme: "vscode" | "vscode-insiders",
): string {
  return `${scheme}:mcp/install?${encodeURIComponent(jsonOf({ name, type: "http", url }))}`;
}

/** The same by way of a website, for browsers and sites that open no applications. */
export function vsCodeWebLink({ name, url }: ServerToConnect, quality?: "insiders"): string {
  const config = jsonOf({ type: "http", url });
  const query = { name, config, ...(quality !== undefined && { quality }) };
  return `https://vscode.dev/redirect/mcp/install?${queryOf(query)}`;
}

export function cursorLink({ name, url }: ServerToConnect): string {
  return `cursor://anysphere.cursor-deeplink/mcp/install?${queryOf({ name, config: base64Of({ url }) })}`;
}

export function cursorWebLink({ name, url }: ServerToConnect): string {
  return `https://cursor.com/en/install-mcp?${queryOf({ name, config: base64Of({ url }) })}`;
}

export function kiroLink({ name, url }: ServerToConnect): string {
  return `https://kiro.dev/launch/mcp/add?${queryOf({ name, config: jsonOf({ url }) })}`;
}

export function lmStudioLink({ name, url }: ServerToConnect): string {
  return `lmstudio://add_mcp?${queryOf({ name, config: base64Of({ url }) })}`;
}

export function lmStudioWebLink({ name, url }: ServerToConnect): string {
  return `https://lmstudio.ai/install-mcp?${queryOf({ name, config: base64Of({ url }) })}`;
}

/** How long Goose waits for an answer. */
const GOOSE_SECONDS = 300;

export function gooseLink({ name, url }: ServerToConnect): string {
  const query = {
    url,
    type: "streamable_http",
    id: name,
    name,
    description: "MCP servers behind Edgeway",
    timeout: String(GOOSE_SECONDS),
  };
  return `goose://extension?${queryOf(query)}`;
}

/** Some clients take `+` for itself, so that spaces are `%20`. */
function queryOf(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
}

/** VS Code decodes twice. An escape of JSON's own stands for `%`, so that it survives any number of times. */
function jsonOf(value: object): string {
  return JSON.stringify(value).replaceAll("%", String.raw`\u0025`);
}

function base64Of(value: object): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(value))));
}
