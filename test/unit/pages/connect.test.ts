/** The front page: one client's own commands and links, for this gateway or one server of it. */

import { describe, test } from "vitest";

import {
  CLIENT_NAMES,
  clientGuide,
  type ClientId,
  type GuidedServer,
} from "../../../src/pages/view/client-guides.ts";
import { accountView } from "../../../src/pages/view/account-view.ts";
import { connectView, type ConnectView } from "../../../src/pages/view/connect-view.ts";
import { textOf } from "../../support/oauth-html.ts";
import { MODELS } from "../../support/page-models.ts";

const URL_OF_SERVER = "https://mcp.example.com/mcp";
const SERVER: GuidedServer = { name: "edgeway", url: URL_OF_SERVER, needsSignIn: true };
const IDS = CLIENT_NAMES.map(([id]) => id);

function commandsOf(id: ClientId, server = SERVER): readonly string[] {
  return (clientGuide(id, server).snippets ?? []).map(({ text }) => text);
}

function shown(changes: Partial<ConnectView> = {}): {
  readonly html: string;
  readonly text: string;
} {
  const html = connectView({ ...MODELS.connect, ...changes }).body.toString();
  return { html, text: textOf(html) };
}

function accountText(isPublishingOn: boolean): string {
  return textOf(accountView({ ...MODELS.account, isPublishingOn }).body.toString());
}

describe("a guide", () => {
  test.for([
    [
      "claude-code",
      `claude mcp add --transport http --scope user edgeway ${URL_OF_SERVER}\nclaude mcp login edgeway`,
    ],
    ["gemini-cli", `gemini mcp add --transport http --scope user edgeway ${URL_OF_SERVER}`],
    ["codex", `codex mcp add edgeway --url ${URL_OF_SERVER}\ncodex mcp login edgeway`],
    ["devin", `devin mcp add -s user edgeway ${URL_OF_SERVER}\ndevin mcp login edgeway`],
    ["goose", `goose session --with-streamable-http-extension ${URL_OF_SERVER}`],
    [
      "vs-code",
      `code --add-mcp '{"name":"edgeway","type":"http","url":"https://mcp.example.com/mcp"}'`,
    ],
    [
      "inspector",
      `npx @modelcontextprotocol/inspector --transport http --server-url ${URL_OF_SERVER}`,
    ],
  ] as const)("has the command of %s", ([id, command], { expect }) => {
    expect(commandsOf(id)[0]).toBe(command);
  });

  test("has the commands that publish where publishing is on, to all servers together", ({
    expect,
  }) => {
    const text = shown({ client: "stdio", isPublishingOn: true }).text;
    expect(text).toContain(`npx edgeway publish files --to ${URL_OF_SERVER} -- npx -y`);
    expect(text).toContain(`npx edgeway publish --config ~/.cursor/mcp.json --to ${URL_OF_SERVER}`);
    expect(shown({ client: "stdio", isPublishingOn: false }).text).not.toContain("edgeway publish");
    expect(accountText(true)).toContain(
      `npx edgeway publish files --to ${MODELS.account.endpoint} --`,
    );
    expect(accountText(false)).not.toContain("edgeway publish");
  });

  test("has the entry of a host that starts commands, and the command by hand", ({ expect }) => {
    const [entry = "", connect, status] = commandsOf("stdio");
    expect(JSON.parse(entry)).toEqual({
      mcpServers: {
        edgeway: {
          command: "node",
          args: ["/path/to/edgeway/cli/edgeway.mjs", "connect"],
          env: { EDGEWAY_URL: URL_OF_SERVER },
        },
      },
    });
    expect(connect).toBe(`npx edgeway connect ${URL_OF_SERVER}`);
    expect(status).toBe(`npx edgeway status ${URL_OF_SERVER}`);
  });

  test("has the key in a variable, where there is no browser", ({ expect }) => {
    expect(commandsOf("curl")[0]).toContain(`-H "Authorization: Bearer $EDGEWAY_KEY"`);
  });

  test.for(IDS)("mentions no sign-in where there is none: %s", (id, { expect }) => {
    const guide = clientGuide(id, { ...SERVER, needsSignIn: false });
    if (guide.isHosted === true) return;
    expect(JSON.stringify(guide)).not.toMatch(
      /login|sign[ -]?in|auth |authenticate|Bearer|API key|OAuth/i,
    );
  });

  test("invents no link for clients that have none", ({ expect }) => {
    for (const id of ["chatgpt", "perplexity"] as const) {
      const { links, webLinks, steps } = clientGuide(id, SERVER);
      expect([links, webLinks]).toEqual([undefined, undefined]);
      expect(steps?.join(" ")).toMatch(/paste the address/i);
    }
  });
});

describe("the front page", () => {
  test("lists the endpoints of single servers and of HTTP+SSE", ({ expect }) => {
    const { text } = shown();
    expect(text).toContain("https://mcp.example.com/mcp/github");
    expect(text).toContain("https://mcp.example.com/sse");
    expect(text).toContain("sign in with GitHub");
  });

  test.for(IDS)("has a link to each client, and shows %s", (client, { expect }) => {
    const { html } = shown({ client });
    const links = Array.from(html.matchAll(/href="\/\?client=([^"#]+)#([^"]+)"/g), ([, id, at]) => [
      id,
      at,
    ]);
    expect(links).toEqual(IDS.map((id) => [id, id]));
    expect(html.match(/<section class="stop part chosen" id="([^"]+)"/g)).toEqual([
      `<section class="stop part chosen" id="${client}"`,
    ]);
    expect(html).toMatch(new RegExp(`href="/\\?client=${client}#${client}" aria-current="true"`));
  });

  test("is about one server, whose address each guide has then", ({ expect }) => {
    const [server] = MODELS.connect.servers;
    for (const client of IDS) {
      const { html, text } = shown({ client, server });
      expect(text).toContain("The tools of GitHub alone");
      expect(html).toContain(`href="/?server=github&amp;client=${client}#${client}"`);
      expect(html).toContain(`href="/?client=${client}">All servers together`);
    }
    expect(shown({ client: "codex", server }).text).toContain(
      "codex mcp add github --url https://mcp.example.com/mcp/github",
    );
  });

  test("offers on this machine only what can reach this machine", ({ expect }) => {
    const claude = shown({ isLoopback: true });
    expect(claude.html).not.toContain("https://claude.ai/");
    expect(claude.text).toContain("Needs a gateway with a public address.");
    expect(claude.html).toContain(`<a href="/?client=claude-desktop">Claude Desktop</a> can reach`);
    expect(shown({ isLoopback: true, client: "vs-code" }).html).toContain("vscode:mcp/install");
  });

  test("leads to the catalog", ({ expect }) => {
    expect(shown().html).toContain(`<a href="/catalog">`);
  });

  test.for(IDS)("asks nobody to sign in where there is no sign-in: %s", (client, { expect }) => {
    const { text } = shown({ client, signIn: { kind: "none" }, isLoopback: true, servers: [] });
    expect(text).not.toMatch(/sign[ -]?in|login|account|API key/i);
  });
});
