/** `npm run deploy`: what it makes, what it asks for, and what it leaves as it is. wrangler is real, the account is not. */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "vitest";

import { deploy } from "../../scripts/deploy.mjs";
import { type CloudflareApi, startCloudflareApi } from "../support/cloudflare-api.ts";
import { NODE, ROOT } from "../support/process.ts";

const KEY = /^[\w-]{43}$/;
/** Of a Worker that exists, if only for its secrets. */
const DEPLOYED = "POST scripts/edgeway/deployments";

let folder: string;
let api: CloudflareApi;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "edgeway-deploy-"));
});
afterEach(() => {
  api.stop();
  rmSync(folder, { recursive: true, force: true });
});

const SERVER = `MCP_SERVERS.docs = { url = "https://docs.example.com/mcp", headers = { X-Key = "\${DOCS_KEY}" } }`;
const PEOPLE = `IDENTITY = { provider = "github", clientId = "a", clientSecret = "\${GITHUB_SECRET}", allow = { subjects = ["1"] } }`;

/** @returns the path of a configuration with these variables, whose Worker is one line. */
function configured(vars: string): string {
  const path = join(folder, "wrangler.toml");
  writeFileSync(join(folder, "worker.js"), "export default { fetch() {} };");
  const head = 'name = "edgeway"\nmain = "worker.js"\ncompatibility_date = "2026-10-23"';
  writeFileSync(path, `${head}\n[vars]\nPUBLIC_ORIGIN = "https://m.example.com"\n${vars}\n`);
  return path;
}

interface Ended {
  readonly code: number;
  readonly said: string;
}

/** Nobody is asked: there is no terminal. */
function run(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd: folder, env: { ...process.env, ...QUIET, ...api.env } };
    const all = [`${ROOT}scripts/deploy.mjs`, ...args];
    const child = execFile(NODE, all, options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), said: stdout + stderr }),
    );
    child.stdin?.end();
  });
}
const QUIET = { WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" };

/** In this process, which has loaded the script: where it does not matter what wrangler says. */
async function at(
  vars: string,
  answers: Readonly<Record<string, string>> = {},
): Promise<{ readonly asked: readonly string[]; readonly said: string; readonly code: number }> {
  const [asked, said]: [string[], string[]] = [[], []];
  Object.assign(process.env, QUIET, api.env);
  const code = await deploy(["-c", configured(vars), "--outdir", join(folder, "out")], {
    say: (line) => said.push(line),
    ask: async (question) => {
      const [name = ""] = /^\w+/.exec(question) ?? [];
      asked.push(name);
      return answers[name] ?? "";
    },
  });
  return { asked, said: said.join("\n"), code };
}

describe("a new Worker", () => {
  test("gets a root for its keys before it is deployed, which nobody sees", async ({ expect }) => {
    api = await startCloudflareApi();
    const { code, said } = await run("-c", configured(""));
    expect(said).toContain("Set: AUTH_SECRET.");
    expect(said).toContain("Without OWNER_CODE, the first visit of /login writes a link");
    expect(code, said).toBe(0);
    expect(Object.keys(api.secrets ?? {})).toEqual(["AUTH_SECRET"]);
    const { AUTH_SECRET: root = "" } = api.secrets ?? {};
    expect(root).toMatch(KEY);
    expect(said).not.toContain(root);
    expect(api.changes.lastIndexOf(DEPLOYED)).toBeGreaterThan(
      api.changes.indexOf("PATCH scripts/edgeway/secrets-bulk"),
    );
  });

  test("keeps that root at every other deploy", async ({ expect }) => {
    api = await startCloudflareApi();
    await at("");
    const made = api.secrets;
    expect((await at("")).code).toBe(0);
    expect(api.secrets).toEqual(made);
    expect(made).toHaveProperty("AUTH_SECRET");
  });

  test.for(['AUTH_MODE = "none"', `AUTH_SECRET = "${"A".repeat(43)}"`])(
    "gets none that it would not use: %s",
    async (vars, { expect }) => {
      api = await startCloudflareApi();
      expect((await at(vars)).code).toBe(0);
      expect(api.secrets).toEqual({});
    },
  );
});

describe("a Worker that exists", () => {
  test("gets no root, because the gateway has made its own", async ({ expect }) => {
    api = await startCloudflareApi({ DOCS_KEY: "kept" });
    expect((await at(SERVER)).code).toBe(0);
    expect(api.secrets).toEqual({ DOCS_KEY: "kept" });
    expect(api.changes).toContain(DEPLOYED);
  });

  test("is not deployed when it is not known which secrets it has", async ({ expect }) => {
    api = await startCloudflareApi({});
    api.isBroken = true;
    const { code, said } = await run("-c", configured(""));
    expect(code).toBe(1);
    expect(said).toMatch(/Authentication error[^]*npx wrangler login\nNothing was deployed\./);
    expect(api.changes).toEqual([]);
  });
});

describe("a secret that the configuration names", () => {
  test("is missed by name, and keeps its server off", async ({ expect }) => {
    api = await startCloudflareApi({});
    const { code, said } = await run("-c", configured(SERVER));
    expect(said).toMatch(/^not served: MCP_SERVERS\.docs.*DOCS_KEY/m);
    expect(code).toBe(0);
    api.secrets = {};
    expect((await run("-c", configured(SERVER), "--strict")).code).toBe(1);
  });

  test("keeps everything off where nobody could sign in without it", async ({ expect }) => {
    api = await startCloudflareApi();
    const { code, said } = await run("-c", configured(PEOPLE));
    expect(said).toMatch(/IDENTITY.*GITHUB_SECRET[^]*Nothing was deployed\./);
    expect(code).toBe(1);
    expect(api.changes).toEqual([]);
  });
});

describe("at a terminal,", () => {
  test("a new gateway asks for the owner's code and what is missing", async ({ expect }) => {
    api = await startCloudflareApi();
    const code = "twenty characters, at least";
    const answers = { DOCS_KEY: "k", OWNER_CODE: code };
    const { asked, said } = await at(SERVER, answers);
    expect(asked).toEqual(["DOCS_KEY", "OWNER_CODE"]);
    expect(api.secrets).toEqual({ ...answers, AUTH_SECRET: expect.stringMatching(KEY) });
    expect(said).not.toContain(code);
  });

  test("nothing is asked for that exists, nor the code of an owner who may have made one", async ({
    expect,
  }) => {
    api = await startCloudflareApi({ DOCS_KEY: "kept" });
    expect((await at(SERVER, {})).asked).toEqual([]);
    expect(api.secrets).toEqual({ DOCS_KEY: "kept" });
  });

  test("no owner's code is asked for where others sign people in", async ({ expect }) => {
    api = await startCloudflareApi();
    expect((await at(PEOPLE, { GITHUB_SECRET: "s" })).asked).toEqual(["GITHUB_SECRET"]);
  });

  test("a code that the gateway would refuse is not set", async ({ expect }) => {
    api = await startCloudflareApi();
    const { said, code } = await at("", { OWNER_CODE: "short" });
    expect(said).toMatch(/^OWNER_CODE .*\nNothing was deployed\.$/m);
    expect(code).toBe(1);
    expect(api.changes).toEqual([]);
  });
});

test("a dry run asks nobody, and says what would be made", async ({ expect }) => {
  api = await startCloudflareApi();
  api.isBroken = true;
  const { code, said } = await run("-c", configured(SERVER), "--dry-run");
  expect(code).toBe(0);
  expect(said).toContain("A new Worker would get an AUTH_SECRET");
  expect(said).toContain("DOCS_KEY");
  expect(said).toContain("--dry-run: exiting now");
});
