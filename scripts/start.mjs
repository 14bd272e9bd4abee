/**
 * `npm start`: wrangler dev with the gateway and the demo upstream side by side. Arguments are
 * passed on. The demo is bound here and not in wrangler.toml, because a deploy would look for a
 * Worker of that name.
 */

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { keepOwnerCode, readSecrets } from "./owner-code.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const config = "wrangler.dev.toml";
const args = process.argv.slice(2);

const demoBinding = `
[[services]]
binding = "DEMO"
service = "edgeway-demo-server"
`;
const toml = readFileSync(`${root}wrangler.toml`, "utf8");
writeIfChanged(`${root}${config}`, toml + demoBinding);

const secretsFile = `${root}.dev.vars`;
const ownerCode = ownerCodeOf(variablesOf(args));

// A registry of its own: another gateway on this machine must not lend us its demo upstream.
const registry = mkdtempSync(join(tmpdir(), "edgeway-registry-"));

const environment = {
  ...process.env,
  PATH: `${root}node_modules/.bin:${process.env["PATH"]}`,
  // No telemetry, no look-up of a placeholder `cf` object, no update check: a start needs no network.
  WRANGLER_SEND_METRICS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_HIDE_BANNER: "true",
  // These two would write every request to a database that nobody reads here.
  X_LOCAL_OBSERVABILITY: "false",
  X_LOCAL_EXPLORER: "false",
  WRANGLER_REGISTRY_PATH: registry,
};

const child = spawn(
  `${root}node_modules/.bin/wrangler`,
  [
    "dev",
    ...["-c", config, "-c", "examples/demo-server/wrangler.toml"],
    ...quietUnless("--log-level", "=warn"),
    ...quietUnless("--show-interactive-dev-session", "=false"),
    ...args,
  ],
  { cwd: root, stdio: "inherit", env: environment },
);
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  process.on(signal, () => child.kill(signal));
}
child.on("exit", (code, signal) => {
  rmSync(registry, { recursive: true, force: true });
  process.exit(signal === null ? (code ?? 1) : 128 + constants.signals[signal]);
});

const local = `http://localhost:${portOf(args)}`;
await announce(local, settingOf("PUBLIC_ORIGIN", /^PUBLIC_ORIGIN\s*=\s*["']([^"']*)/m) || local);

/** Another gateway of this folder may be watching the file: it must never see half of it. */
function writeIfChanged(/** @type {string} */ path, /** @type {string} */ text) {
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}

/** A default that gives way to the caller's own: wrangler refuses an option given twice. */
function quietUnless(/** @type {string} */ option, /** @type {string} */ value) {
  return args.some((arg) => arg.startsWith(option)) ? [] : [`${option}${value}`];
}

/** The port that wrangler will take, as it was given: `--port 9000` or `--port=9000`. */
function portOf(/** @type {readonly string[]} */ given) {
  const joined = given.join(" ");
  return /(?:^| )--port[ =](\d+)/.exec(joined)?.[1] ?? "8787";
}

/**
 * What `--var NAME:value …` gives, which comes before all other places.
 *
 * @returns {Readonly<Record<string, string | undefined>>}
 */
function variablesOf(/** @type {readonly string[]} */ given) {
  /** @type {Record<string, string>} */
  const variables = {};
  let isVariable = false;
  for (const arg of given) {
    if (arg.startsWith("-")) isVariable = /^--var(=|$)/.test(arg);
    const [, name, value] = /^(?:--var=)?(\w+):(.*)$/s.exec(arg) ?? [];
    if (isVariable && name !== undefined) variables[name] = value ?? "";
  }
  return variables;
}

/** @returns the code that the owner signs in with; `undefined` where there is no such sign-in. */
function ownerCodeOf(/** @type {Readonly<Record<string, string | undefined>>} */ variables) {
  if (settingOf("AUTH_MODE", /^AUTH_MODE\s*=\s*["'](\w*)/m) === "none") return undefined;
  const providers = settingOf("IDENTITY", /^(?:IDENTITY\s*=|\[+vars\.IDENTITY\])([^]*)/m);
  if (providers !== undefined && !/["']owner["']/.test(providers)) return undefined;
  return variables["OWNER_CODE"] ?? keepOwnerCode(secretsFile);
}

/** @param pattern of its line in wrangler.toml. */
function settingOf(/** @type {string} */ name, /** @type {RegExp} */ pattern) {
  const { [name]: kept } = readSecrets(secretsFile);
  return variablesOf(args)[name] ?? kept ?? pattern.exec(toml)?.[1];
}

/** Says where everything is, once it is there: on this machine, and under its public name. */
async function announce(/** @type {string} */ address, /** @type {string} */ origin) {
  while (child.exitCode === null) {
    const health = await fetch(`${address}/health`).catch(() => undefined);
    if (health?.ok === true) {
      const { version } = /** @type {{ version: string }} */ (await health.json());
      process.stdout.write(`
Edgeway ${version} is ready.

  MCP endpoint  ${origin}/mcp
  HTTP+SSE      ${origin}/sse  (clients of 2024-11-05)
${await signIn(address, origin)}

`);
      return;
    }
    if (health?.status === 503) {
      process.stdout.write(`\nEdgeway cannot serve yet:\n\n${await health.text()}\n`);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Asks the gateway itself whether there is sign-in, for it knows best. */
async function signIn(/** @type {string} */ address, /** @type {string} */ origin) {
  const metadata = await fetch(`${address}/.well-known/oauth-authorization-server`);
  await metadata.body?.cancel();
  // A gateway with a public origin refuses the host of this request, and has sign-in.
  if (metadata.status === 404)
    return `  Sign-in       off: AUTH_MODE is "none", so only this machine is served`;
  const code = ownerCode === undefined ? "" : `  Sign-in code  ${ownerCode}\n`;
  return `${code}  Console       ${origin}/account`;
}
