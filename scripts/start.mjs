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

const root = fileURLToPath(new URL("..", import.meta.url));
const config = "wrangler.dev.toml";
const args = process.argv.slice(2);

const demoBinding = `
[[services]]
binding = "DEMO"
service = "edgeway-demo-server"
`;
writeIfChanged(`${root}${config}`, readFileSync(`${root}wrangler.toml`, "utf8") + demoBinding);

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

await announce(`http://localhost:${portOf(args)}`);

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

/** Says where everything is, once it is there. */
async function announce(/** @type {string} */ origin) {
  while (child.exitCode === null) {
    const health = await fetch(`${origin}/health`).catch(() => undefined);
    if (health?.ok === true) {
      const { version } = /** @type {{ version: string }} */ (await health.json());
      process.stdout.write(`
Edgeway ${version} is ready.

  MCP endpoint  ${origin}/mcp
  HTTP+SSE      ${origin}/sse  (clients of 2024-11-05)
  Sign-in       off: AUTH_MODE is "none", so only this machine is served

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
