/** Each install link, byte for byte, and as the client reads it: exactly the endpoint, and no secret. */

import { describe, test } from "vitest";

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
} from "../../../src/pages/view/install-links.ts";

const NAME = "edgeway";
const URL_OF_SERVER = "https://mcp.example.com/mcp";
const ESCAPED = "https%3A%2F%2Fmcp.example.com%2Fmcp";
const BASE64 = "eyJ1cmwiOiJodHRwczovL21jcC5leGFtcGxlLmNvbS9tY3AifQ%3D%3D";

interface Case {
  readonly client: string;
  readonly make: (server: ServerToConnect) => string;
  /** For the usual endpoint. */
  readonly link: string;
  /** The name and the URL, as the client takes them from the link. */
  readonly read: (link: string) => ServerToConnect;
}

const inQuery =
  (field: string, decode: (text: string) => string) =>
  (link: string): ServerToConnect => {
    const { searchParams } = new URL(link);
    const { url } = JSON.parse(decode(searchParams.get(field) ?? ""));
    return { name: searchParams.get("name") ?? "", url };
  };
const fromBase64 = (text: string): string =>
  new TextDecoder().decode(Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0)));
const asIs = (text: string): string => text;

function claude(link: string): ServerToConnect {
  const { searchParams } = new URL(link);
  return {
    name: searchParams.get("connectorName") ?? "",
    url: searchParams.get("connectorUrl") ?? "",
  };
}

/** VS Code's URI is decoded when it is parsed, and its query once more when it is read. */
function vsCode(link: string): ServerToConnect {
  const query = decodeURIComponent(link.slice(link.indexOf("?") + 1));
  const { name, url } = JSON.parse(decodeURIComponent(query));
  return { name, url };
}

function goose(link: string): ServerToConnect {
  const { searchParams } = new URL(link);
  return { name: searchParams.get("name") ?? "", url: searchParams.get("url") ?? "" };
}

const CASES: readonly Case[] = [
  {
    client: "Claude",
    make: (server) => claudeLink(server, "customize"),
    link: `https://claude.ai/customize/connectors?modal=add-custom-connector&connectorName=edgeway&connectorUrl=${ESCAPED}`,
    read: claude,
  },
  {
    client: "Claude, for an organization",
    make: (server) => claudeLink(server, "admin-settings"),
    link: `https://claude.ai/admin-settings/connectors?modal=add-custom-connector&connectorName=edgeway&connectorUrl=${ESCAPED}`,
    read: claude,
  },
  {
    client: "VS Code",
    make: (server) => vsCodeLink(server, "vscode"),
    link: `vscode:mcp/install?%7B%22name%22%3A%22edgeway%22%2C%22type%22%3A%22http%22%2C%22url%22%3A%22${ESCAPED}%22%7D`,
    read: vsCode,
  },
  {
    client: "VS Code Insiders",
    make: (server) => vsCodeLink(server, "vscode-insiders"),
    link: `vscode-insiders:mcp/install?%7B%22name%22%3A%22edgeway%22%2C%22type%22%3A%22http%22%2C%22url%22%3A%22${ESCAPED}%22%7D`,
    read: vsCode,
  },
  {
    client: "VS Code, by its website",
    make: (server) => vsCodeWebLink(server),
    link: `https://vscode.dev/redirect/mcp/install?name=edgeway&config=%7B%22type%22%3A%22http%22%2C%22url%22%3A%22${ESCAPED}%22%7D`,
    read: inQuery("config", asIs),
  },
  {
    client: "VS Code Insiders, by its website",
    make: (server) => vsCodeWebLink(server, "insiders"),
    link: `https://vscode.dev/redirect/mcp/install?name=edgeway&config=%7B%22type%22%3A%22http%22%2C%22url%22%3A%22${ESCAPED}%22%7D&quality=insiders`,
    read: inQuery("config", asIs),
  },
  {
    client: "Cursor",
    make: cursorLink,
    link: `cursor://anysphere.cursor-deeplink/mcp/install?name=edgeway&config=${BASE64}`,
    read: inQuery("config", fromBase64),
  },
  {
    client: "Cursor, by its website",
    make: cursorWebLink,
    link: `https://cursor.com/en/install-mcp?name=edgeway&config=${BASE64}`,
    read: inQuery("config", fromBase64),
  },
  {
    client: "Kiro",
    make: kiroLink,
    link: `https://kiro.dev/launch/mcp/add?name=edgeway&config=%7B%22url%22%3A%22${ESCAPED}%22%7D`,
    read: inQuery("config", asIs),
  },
  {
    client: "LM Studio",
    make: lmStudioLink,
    link: `lmstudio://add_mcp?name=edgeway&config=${BASE64}`,
    read: inQuery("config", fromBase64),
  },
  {
    client: "LM Studio, by its website",
    make: lmStudioWebLink,
    link: `https://lmstudio.ai/install-mcp?name=edgeway&config=${BASE64}`,
    read: inQuery("config", fromBase64),
  },
  {
    client: "Goose",
    make: gooseLink,
    link: `goose://extension?url=${ESCAPED}&type=streamable_http&id=edgeway&name=edgeway&description=MCP%20servers%20behind%20Edgeway&timeout=300`,
    read: goose,
  },
];

/** Addresses with all that means something to a URL, to JSON or to base64. */
const ODD = [
  "http://localhost:8787/mcp",
  "http://[::1]:8787/mcp/docs",
  "https://mcp.example.com/mcp/a-server-with-a-long-name",
  "https://mcp.example.com/mcp?a=1&b=it's#f",
  'https://mcp.example.com/mcp?a=1+1&b=%2B%25&c="<>&d=100%',
  "https://bücher.example/pfad/über?straße=ß",
  "https://mcp.example.com/мср/文",
  new URL("https://bücher.example/pfad/über%2Fall").href,
];

describe.for(CASES)("the link for $client", ({ make, link, read }) => {
  test("P14: is this, byte for byte", ({ expect }) => {
    expect(make({ name: NAME, url: URL_OF_SERVER })).toBe(link);
  });

  test.for(ODD)("P14: is read as exactly %s", (url, { expect }) => {
    for (const name of [NAME, "my docs & más"]) {
      const made = make({ name, url });
      expect(read(made)).toEqual({ name, url });
      expect(made).toMatch(/^[\w:/.?&=%!'()*~-]+$/);
    }
  });

  test("P14: has no token, and no place for one", ({ expect }) => {
    expect(decodeURIComponent(link)).not.toMatch(/token|authorization|bearer|header|key/i);
  });
});
