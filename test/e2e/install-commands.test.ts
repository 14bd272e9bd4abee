/** The commands of the front page in a real shell: the client is given exactly the endpoint, whatever is in it. */

import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, test } from "vitest";

import { CLIENT_NAMES, clientGuide } from "../../src/pages/view/client-guides.ts";

const run = promisify(execFile);

const CLIENTS = ["claude", "codex", "gemini", "goose", "devin", "code", "npx", "curl"];
/** Prints each argument on a line of its own. */
const STUB = `#!/bin/sh\nprintf '%s\\n' "$0" "$@"\n`;
const URLS = [
  "https://mcp.example.com/mcp",
  "https://mcp.example.com/mcp?a=1&b=it's#f",
  'https://mcp.example.com/mcp?q="$HOME"&r=`id`&s=\\;exit',
  "https://bücher.example/pfad/über",
];

let folder: string;
let bin: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "edgeway-install-"));
  bin = join(folder, "bin");
  await mkdir(bin);
  for (const name of CLIENTS) {
    await writeFile(join(bin, name), STUB);
    await chmod(join(bin, name), 0o755);
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The commands that a client is called with, as words. */
async function callsOf(script: string): Promise<readonly (readonly string[])[]> {
  const env = { PATH: `${bin}${delimiter}/usr/bin${delimiter}/bin`, HOME: "/nowhere" };
  const { stdout } = await run("sh", ["-e", "-c", script], { env, cwd: folder });
  return stdout
    .split(`${bin}/`)
    .slice(1)
    .map((call) => call.trimEnd().split("\n"));
}

/** The commands on the page of a client, which a person types into a shell. */
function scriptsOf(id: (typeof CLIENT_NAMES)[number][0], url: string): readonly string[] {
  const { snippets = [] } = clientGuide(id, { name: "edgeway", url, needsSignIn: true });
  return snippets.map(({ text }) => text).filter((text) => !text.startsWith("{"));
}

const SHELL_CLIENTS = CLIENT_NAMES.filter(([id]) => scriptsOf(id, "https://x.example").length > 0);

describe("a command of the front page", () => {
  test("is there for each client that has one", ({ expect }) => {
    expect(SHELL_CLIENTS.map(([id]) => id)).toEqual([
      ...["claude-code", "vs-code", "goose", "gemini-cli", "codex", "devin", "inspector"],
      ...["stdio", "curl"],
    ]);
  });

  test.for(SHELL_CLIENTS.flatMap(([id]) => URLS.map((url) => [id, url] as const)))(
    "gives %s exactly %s",
    async ([id, url], { expect }) => {
      for (const script of scriptsOf(id, url)) {
        const [[command = "", ...words] = []] = await callsOf(script);
        expect(CLIENTS).toContain(command);
        const given = command === "code" ? [JSON.parse(words[1] ?? "{}").url] : words;
        expect(given).toContain(url);
      }
    },
  );

  test("signs in as the second command, with the same name", async ({ expect }) => {
    const [script = ""] = scriptsOf("codex", "https://mcp.example.com/mcp");
    expect(await callsOf(script)).toEqual([
      ["codex", "mcp", "add", "edgeway", "--url", "https://mcp.example.com/mcp"],
      ["codex", "mcp", "login", "edgeway"],
    ]);
  });
});
