/**
 * `npm start`: wrangler dev with the gateway and the demo upstream side by side, behind a reverse
 * proxy of our own (`reverse-proxy.mjs`). Arguments are passed on to wrangler. The demo is bound
 * here and not in wrangler.toml, because a deploy would look for a Worker of that name.
 */

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { packMcpb } from "../cli/pack-mcpb.mjs";
import { logReader, warningReader } from "./log-lines.mjs";
import { outputOf } from "./output-of.mjs";
import { keepOwnerCode, readSecrets } from "./owner-code.mjs";
import { whyNotOpened } from "./port-owner.mjs";
import { codeOf, startReverseProxy } from "./reverse-proxy.mjs";
import { variablesOf } from "./variables-of.mjs";

/** npm that was killed ends nobody, so it is looked for. */
const NPM_CHECK_MS = 1000;
const PIPES = /** @type {const} */ (["pipe", "pipe"]);
const INHERITED = /** @type {const} */ (["inherit", "inherit"]);

const root = fileURLToPath(new URL("..", import.meta.url));
const config = "wrangler.dev.toml";
const args = process.argv.slice(2);

const demoBinding = `
[[services]]
binding = "DEMO"
service = "edgeway-demo-server"
`;
const toml = readFileSync(`${root}wrangler.toml`, "utf8");
// With a build of its own, wrangler does not say of which Worker a line of its log is.
await packMcpb();
const withoutBuild = toml.replace(/^\[build\]\n(?:.+\n)*/m, "");
writeIfChanged(`${root}${config}`, withoutBuild + demoBinding);

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

/** @type {(address: import("./reverse-proxy.mjs").Destination) => void} */
let onWranglerReady = () => undefined;
/** @type {Promise<import("./reverse-proxy.mjs").Destination>} */
const wranglerAddress = new Promise((resolve) => {
  onWranglerReady = resolve;
});
const launcherKey = randomBytes(32).toString("base64url");
// Whoever asks for a level of wrangler's own is shown what wrangler prints.
const showsLog = optionOf("log-level") === undefined;
// The port is opened before anything is started: from here on, nobody else answers there.
const host = optionOf("ip") ?? devSettingOf("ip") ?? "127.0.0.1";
const port = await openPort(Number(optionOf("port") ?? devSettingOf("port") ?? "8787"));

const child = spawn(
  "node",
  [
    ...["--import", fileURLToPath(new URL("end-with-parent.mjs", import.meta.url))],
    `${root}node_modules/wrangler/bin/wrangler.js`,
    ...["dev", "-c", config, "-c", "examples/demo-server/wrangler.toml"],
    // Any free port: it is the proxy that has the one that was asked for.
    ...["--ip", "127.0.0.1", "--port", "0", "--var", `LAUNCHER_KEY:${launcherKey}`],
    ...defaultOf("log-level", "log"),
    ...defaultOf("show-interactive-dev-session", "false"),
    ...without(["ip", "port"]),
  ],
  {
    cwd: root,
    env: environment,
    // The channel tells where wrangler listens, and lets wrangler end with this process.
    stdio: ["inherit", ...(showsLog ? PIPES : INHERITED), "ipc"],
  },
);
child.on("message", (message) => {
  const said = typeof message === "string" ? JSON.parse(message) : {};
  if (said.event === "DEV_SERVER_READY") onWranglerReady({ host: said.ip, port: said.port });
});
const readLog = logReader(/^name\s*=\s*["']([^"']*)/m.exec(toml)?.[1] ?? "edgeway");
child.stdout?.setEncoding("utf8").on("data", (chunk) => process.stdout.write(readLog(chunk)));
const readWarnings = warningReader();
child.stderr?.setEncoding("utf8").on("data", (chunk) => process.stderr.write(readWarnings(chunk)));

// wrangler ends its own processes on SIGTERM and SIGINT, but not on SIGHUP.
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  process.on(signal, () => child.kill("SIGTERM"));
}
child.on("exit", (code, signal) => {
  rmSync(registry, { recursive: true, force: true });
  process.exit(signal === null ? (code ?? 1) : 128 + constants.signals[signal]);
});

const npm = await npmOfThisStart();
if (npm !== undefined) setInterval(endWithNpm, NPM_CHECK_MS, npm).unref();

await wranglerAddress;
const local = `http://localhost:${port}`;
await announce(local, settingOf("PUBLIC_ORIGIN", /^PUBLIC_ORIGIN\s*=\s*["']([^"']*)/m) || local);

/** Another gateway of this folder may be watching the file: it must never see half of it. */
function writeIfChanged(/** @type {string} */ path, /** @type {string} */ text) {
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}

/** @returns the process of the npm that runs this script, which may have put a shell in between. */
async function npmOfThisStart() {
  if (process.env["npm_lifecycle_event"] !== "start") return undefined;
  const above = await outputOf("ps", ["-o", "ppid=,args=", "-p", String(process.ppid)]);
  const [, id] = /^(\d+)\s+\S*sh -c /.exec(above) ?? [];
  return id === undefined ? process.ppid : Number(id);
}

function endWithNpm(/** @type {number} */ npm) {
  try {
    process.kill(npm, 0);
  } catch (error) {
    if (codeOf(error) === "ESRCH") child.kill("SIGTERM");
  }
}

/** A default that gives way to the caller's own: wrangler refuses an option given twice. */
function defaultOf(/** @type {string} */ option, /** @type {string} */ value) {
  return optionOf(option) === undefined ? [`--${option}=${value}`] : [];
}

/** @returns what was given as `--name value` or `--name=value`. */
function optionOf(/** @type {string} */ name) {
  const index = args.findLastIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  const arg = args[index];
  return arg === `--${name}` ? (args[index + 1] ?? "") : arg?.slice(name.length + 3);
}

/** @returns the arguments but these options, each with its value. */
function without(/** @type {readonly string[]} */ names) {
  const isOne = (/** @type {string | undefined} */ arg) =>
    names.some((name) => arg === `--${name}`);
  return args.filter(
    (arg, index) =>
      !isOne(arg) && !isOne(args[index - 1]) && !names.some((name) => arg.startsWith(`--${name}=`)),
  );
}

/** What wrangler.toml says under `[dev]`. */
function devSettingOf(/** @type {string} */ name) {
  const [, section = ""] = /^\[dev\]$([^]*?)(?=^\[|(?![^]))/m.exec(toml) ?? [];
  return new RegExp(`^${name}\\s*=\\s*["']?([^"'\\s]+)`, "m").exec(section)?.[1];
}

/** Opens the port where clients connect, or says who has it and ends. */
async function openPort(/** @type {number} */ wanted) {
  try {
    return await startReverseProxy({
      host,
      port: wanted,
      key: launcherKey,
      destination: wranglerAddress,
    });
  } catch (error) {
    process.stderr.write(`\n${await whyNotOpened(codeOf(error), wanted)}\n`);
    rmSync(registry, { recursive: true, force: true });
    process.exit(1);
  }
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

/** Says where everything is: on this machine, and under its public name. */
async function announce(/** @type {string} */ address, /** @type {string} */ origin) {
  const health = await fetch(`${address}/health`);
  if (!health.ok) {
    process.stdout.write(`\nEdgeway cannot serve yet:\n\n${await health.text()}\n`);
    return;
  }
  const { version } = /** @type {{ version: string }} */ (await health.json());
  process.stdout.write(`
Edgeway ${version} is ready.

  MCP endpoint  ${origin}/mcp
  HTTP+SSE      ${origin}/sse  (clients of 2024-11-05)
${await signIn(address, origin)}

`);
}

/** Asks the gateway itself whether there is sign-in, for it knows best. */
async function signIn(/** @type {string} */ address, /** @type {string} */ origin) {
  // A page: who looks up the metadata of sign-in is an application, to the login doctor.
  const page = await fetch(`${address}/account`, { redirect: "manual" });
  await page.body?.cancel();
  // A gateway with a public origin refuses the host of this request, and has sign-in.
  if (page.status === 404) {
    return `  Sign-in       off: AUTH_MODE is "none", so only this machine is served
  Console       ${origin}/catalog`;
  }
  const code = ownerCode === undefined ? "" : `  Sign-in code  ${ownerCode}\n`;
  return `${code}  Console       ${origin}/account`;
}
