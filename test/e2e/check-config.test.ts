/** `npm run check-config`, `npm run deploy` and `wrangler deploy` say what is wrong before anything is deployed. */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, test } from "vitest";

import { checkConfig } from "../../scripts/check-config.mjs";
import { NODE, ROOT } from "../support/process.ts";

const run = promisify(execFile);
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "edgeway-check-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** @returns the path of a configuration with these variables. */
function configured(vars: string, rest = ""): string {
  const path = join(folder, `${crypto.randomUUID()}.toml`);
  const head = `name = "edgeway"\nmain = "${ROOT}src/index.ts"\ncompatibility_date = "2026-10-23"`;
  writeFileSync(path, `${head}\n[vars]\nPUBLIC_ORIGIN = "https://m.example.com"\n${vars}\n${rest}`);
  return path;
}

const MAP = `MCP_SERVERS = '''
{ "mcpServers": { // of a client
    "My Docs": { "url": "https://docs.example.com/mcp", "headers": { "X-Key": "\${input:docs-key}" } },
    "bound": { "service": "BOUND", "auth": "none" },
    "files": { "command": "npx", "args": ["hush"] },
    "old": { "url": "https://old.example.com/mcp", "disabled": true },
    "new": { "url": "https://new.example.com/mcp", "tools": { "denied": ["*"] } }, } }
'''`;
const SERVICE = '[[services]]\nbinding = "BOUND"\nservice = "other"\n';

function deploy(...args: readonly string[]): ReturnType<typeof run> {
  return run(NODE, [`${ROOT}scripts/deploy.mjs`, "--dry-run", ...args], {
    cwd: ROOT,
    env: { ...process.env, WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" },
  });
}

describe("wrangler deploy", () => {
  test.for([
    [
      "an entry",
      'PUBLIC_ORIGIN = "https://m.example.com"',
      /not served: MCP_SERVERS\.files starts a program/,
    ],
    ["a mistake", 'AUTH_MODE = "maybe"', /AUTH_MODE[\s\S]*answers every request with 503/],
  ] as const)("says what is wrong, and deploys: %s", async ([, vars, said], { expect }) => {
    const project = mkdtempSync(join(folder, "project-"));
    const head = `name = "edgeway"\nmain = "index.js"\ncompatibility_date = "2026-10-23"`;
    const build = `[build]\ncommand = "node ${ROOT}scripts/build.mjs"`;
    writeFileSync(join(project, "wrangler.toml"), `${head}\n${build}\n[vars]\n${vars}\n${MAP}`);
    writeFileSync(join(project, "index.js"), "export default {};");
    const bin = `${ROOT}node_modules/.bin`;
    const { stdout } = await run(`${bin}/wrangler`, ["deploy", "--dry-run"], {
      cwd: project,
      env: {
        ...process.env,
        WRANGLER_SEND_METRICS: "false",
        PATH: `${bin}:${process.env["PATH"]}`,
      },
    });
    expect(stdout).toMatch(said);
    expect(stdout).not.toContain("hush");
    expect(stdout).toContain("--dry-run: exiting now");
  });
});

describe("npm run check-config", () => {
  test("says what is served, what is not and why, and which secrets are needed", ({ expect }) => {
    const { isGood, lines } = checkConfig(["--config", configured(MAP, SERVICE)]);
    expect(lines).toEqual([
      "Served: my-docs, bound.",
      expect.stringMatching(/^not served: MCP_SERVERS\.files starts a program/),
      "switched off: MCP_SERVERS.old is switched off.",
      expect.stringMatching(/^not served: MCP_SERVERS\.new\.tools: .*did you mean "deny"/),
      'Secrets that it needs, each set with "npx wrangler secret put NAME": DOCS_KEY.',
    ]);
    expect(isGood).toBe(true);
    expect(lines.join("")).not.toContain("hush");
  });

  test("takes what wrangler takes, and is strict if it is asked to be", ({ expect }) => {
    const path = configured(MAP, SERVICE);
    expect(checkConfig(["-c", path, "--strict"]).isGood).toBe(false);
    const one = JSON.stringify({ a: { url: "https://a.example.com/mcp" } });
    const given = ["-c", path, "--var", `MCP_SERVERS:${one}`, "--dry-run"];
    expect(checkConfig([...given, "--strict"])).toEqual({ isGood: true, lines: ["Served: a."] });
    const several = ["--var", "AUTH_MODE:none", `MCP_SERVERS:${one}`, "--dry-run"];
    expect(checkConfig(["-c", path, ...several]).lines).toEqual([
      "Served: a.",
      'AUTH_MODE is "none": only loopback hosts are served.',
    ]);
    const other = configured("", '[env.other.vars]\nAUTH_MODE = "none"');
    expect(checkConfig(["-c", other, "-e", "other"]).lines).toEqual([
      "MCP_SERVERS is empty, so /mcp answers 503.",
      'AUTH_MODE is "none": only loopback hosts are served.',
    ]);
  });

  test.for([
    ["LIMITS = { maxFun = 1 }", /^LIMITS\.maxFun is unknown/],
    ['MCP_SERVERS = "["', /^MCP_SERVERS is a string that is not valid JSON/],
    ["MCP_SERVER = {}", /^MCP_SERVER means nothing here; the servers are in MCP_SERVERS\.$/],
  ] as const)("fails for what concerns the whole gateway: %s", ([vars, sentence], { expect }) => {
    const { isGood, lines } = checkConfig(["-c", configured(vars)]);
    expect(isGood).toBe(false);
    expect(lines).toEqual([expect.stringMatching(sentence)]);
  });

  test("takes a key that is a secret for one", ({ expect }) => {
    const entry =
      '{ url = "https://a.example.com/mcp", auth = "client-credentials", oauth = { clientId = "a", issuer = "https://login.example.com", privateKey = "${PEM_KEY}" } }';
    const { lines } = checkConfig(["-c", configured(`MCP_SERVERS = { a = ${entry} }`)]);
    expect(lines).toEqual(["Served: a.", expect.stringContaining("PEM_KEY")]);
  });
});

describe("npm run deploy", () => {
  test("deploys nothing that every route would answer with 503", async ({ expect }) => {
    const failed = deploy("-c", configured("LIMITS = { maxFun = 1 }"));
    await expect(failed).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/LIMITS\.maxFun[^]*Nothing was deployed/),
    });
  });

  test("says what the configuration has, and hands over to wrangler", async ({ expect }) => {
    const { stdout, stderr } = await deploy("--outdir", join(folder, "out"));
    expect(String(stderr)).toContain("MCP_SERVERS is empty, so /mcp answers 503.");
    expect(String(stdout)).toContain("--dry-run: exiting now");
  });
});
