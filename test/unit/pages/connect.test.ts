/** The front page's commands and links: each names this gateway in its client's own way. */

import { describe, test } from "vitest";

import { clientGuides } from "../../../src/pages/view/client-guides.ts";
import { connectView } from "../../../src/pages/view/connect-view.ts";
import { textOf } from "../../support/oauth-html.ts";
import { MODELS } from "../../support/page-models.ts";

const URL_OF_SERVER = "https://mcp.example.com/mcp";
const guides = clientGuides({ name: "edgeway", url: URL_OF_SERVER, needsSignIn: true });

function hrefOf(id: string): string {
  return guides.find((guide) => guide.id === id)?.open?.href ?? "";
}
function snippetOf(id: string): string {
  return guides.find((guide) => guide.id === id)?.snippets?.[0]?.text ?? "";
}

describe("a guide", () => {
  test("opens Claude with the name and the address filled in", ({ expect }) => {
    const url = new URL(hrefOf("claude"));
    expect(url.origin + url.pathname).toBe("https://claude.ai/customize/connectors");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      modal: "add-custom-connector",
      connectorName: "edgeway",
      connectorUrl: URL_OF_SERVER,
    });
  });

  test("opens VS Code with its configuration as JSON", ({ expect }) => {
    const [scheme, query = ""] = hrefOf("vs-code").split("?");
    expect(scheme).toBe("vscode:mcp/install");
    expect(JSON.parse(decodeURIComponent(query))).toEqual({
      ...{ name: "edgeway", type: "http", url: URL_OF_SERVER },
    });
  });

  test("opens Cursor with its configuration as base64", ({ expect }) => {
    const url = new URL(hrefOf("cursor"));
    expect(url.href).toMatch(/^cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install\?/);
    expect(url.searchParams.get("name")).toBe("edgeway");
    expect(JSON.parse(atob(url.searchParams.get("config") ?? ""))).toEqual({ url: URL_OF_SERVER });
  });

  test("has the command of each client that has one", ({ expect }) => {
    expect(snippetOf("claude-code")).toBe(
      `claude mcp add --transport http --scope user edgeway ${URL_OF_SERVER}`,
    );
    expect(snippetOf("gemini-cli")).toBe(
      `gemini mcp add --transport http --scope user edgeway ${URL_OF_SERVER}`,
    );
    expect(snippetOf("codex")).toBe(
      `codex mcp add edgeway --url ${URL_OF_SERVER}\ncodex mcp login edgeway`,
    );
    expect(snippetOf("inspector")).toBe(
      `npx @modelcontextprotocol/inspector --transport http --server-url ${URL_OF_SERVER}`,
    );
    expect(snippetOf("curl")).toContain(`-H "Authorization: Bearer $EDGEWAY_KEY"`);
  });

  test("mentions no sign-in where there is none", ({ expect }) => {
    const open = clientGuides({ name: "edgeway", url: URL_OF_SERVER, needsSignIn: false });
    expect(JSON.stringify(open)).not.toMatch(/login|auth |authenticate|Bearer|API key/);
  });

  test("is for every client that was promised", ({ expect }) => {
    const text = textOf(connectView(MODELS.connect).body.toString());
    for (const name of ["Claude", "Claude Code", "ChatGPT", "VS Code", "Cursor", "Gemini CLI"]) {
      expect(guides.map((guide) => guide.name)).toContain(name);
    }
    expect(text).toContain("MCP Inspector");
    expect(text).toContain("curl -s https://mcp.example.com/mcp");
  });
});

describe("the front page", () => {
  test("lists the endpoints of single servers and of HTTP+SSE", ({ expect }) => {
    const text = textOf(connectView(MODELS.connect).body.toString());
    expect(text).toContain("https://mcp.example.com/mcp/github");
    expect(text).toContain("https://mcp.example.com/sse");
    expect(text).toContain("sign in with GitHub");
  });

  test("offers on this machine only what can reach this machine", ({ expect }) => {
    const html = connectView({ ...MODELS.connect, isLoopback: true }).body.toString();
    expect(html).not.toContain("https://claude.ai/customize");
    expect(html).toContain("vscode:mcp/install");
    expect(textOf(html)).toContain("Needs a gateway with a public address.");
  });

  test("has an anchor for each link to a client", ({ expect }) => {
    const html = connectView(MODELS.connect).body.toString();
    const links = Array.from(html.matchAll(/href="#([^"]+)"/g), ([, id]) => id);
    expect(links).toEqual(guides.map(({ id }) => id));
    for (const id of links) expect(html).toContain(`id="${id}"`);
  });
});
