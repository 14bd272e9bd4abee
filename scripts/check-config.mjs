/**
 * `npm run check-config`: says everything that is wrong in the configuration, before it is deployed. It fails if
 * the gateway would answer every route with 503; with `-- --strict`, also if an entry of `MCP_SERVERS` is not
 * served as it is written. `--config`, `--env` and `--var` are wrangler's.
 */

import { parseArgs } from "node:util";

import { unstable_readConfig as readConfig } from "wrangler";

import { parseEditorJson } from "../src/lib/editor-json.ts";
import { secretsIn } from "../src/config/clients/placeholders.ts";
import { variablesOf } from "./variables-of.mjs";

/** The rest of `src` has the types of Workers, which are not those of this program. */
const { parseConfig } = /** @type {{ parseConfig: (env: object) => ConfigResult }} */ (
  await import(String(new URL("../src/config/config.ts", import.meta.url)))
);

/**
 * @typedef {import("../src/observability/health.ts").EntryNotice} EntryNotice
 *
 * @typedef {{
 *   readonly authMode: string,
 *   readonly authSecret: string | undefined,
 *   readonly identity: readonly { provider: string, code?: string }[],
 *   readonly publicOrigin: string | undefined,
 *   readonly servers: ReadonlyMap<string, unknown>,
 *   readonly notices: readonly EntryNotice[],
 * }} Config
 *
 * @typedef {{ ok: true, config: Config } | { ok: false, problems: readonly string[] }} ConfigResult
 */

/** The values of secrets are known only where the gateway runs. */
const UNKNOWN = "x";
const UNKNOWN_KEY = "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----";

/** @type {Readonly<Record<EntryNotice["state"], string>>} */
const STATES = {
  misconfigured: "not served",
  stdio: "not served",
  off: "switched off",
  "partly-read": "served",
};

/**
 * @typedef {{
 *   readonly vars: Readonly<Record<string, unknown>>,
 *   readonly bindings: readonly string[],
 *   readonly secrets: ReadonlyMap<string, string>,
 *   readonly isStrict: boolean,
 * }} Configuration with the secrets that it names, each with a value of its kind.
 */

/** @param {readonly string[]} args of wrangler's; others than those above are left to wrangler. */
export function checkConfig(args) {
  const configuration = readConfiguration(args);
  const { isGood, lines, config } = judge(configuration);
  const { secrets } = configuration;
  if (config === undefined || secrets.size === 0) return { isGood, lines };
  const names = [...secrets.keys()].join(", ");
  const line = `Secrets that it needs, each set with "npx wrangler secret put NAME": ${names}.`;
  return { isGood, lines: [...lines, line] };
}

/** @returns {Configuration} */
export function readConfiguration(/** @type {readonly string[]} */ args) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      config: { type: "string", short: "c" },
      env: { type: "string", short: "e" },
      strict: { type: "boolean" },
    },
    strict: false,
  });
  const { vars: configured, services } = readConfig(
    { config: textOf(values.config), env: textOf(values.env) },
    { hideWarnings: true },
  );
  const vars = { ...configured, ...variablesOf(args) };
  const bindings = (services ?? []).map((/** @type {{ binding: string }} */ each) => each.binding);
  return { vars, bindings, secrets: secretsOf(vars), isStrict: values.strict === true };
}

/**
 * @param {Configuration} configuration
 * @param {ReadonlyMap<string, string>} secrets those that are set; all that it names, unless given.
 * @returns {{ isGood: boolean, lines: readonly string[], config?: Config }} whether the gateway could serve with
 *   it; no `config` if it has a mistake that concerns all of it.
 */
export function judge({ vars, bindings, secrets: named, isStrict }, secrets = named) {
  const parsed = parseConfig({
    ...Object.fromEntries(bindings.map((binding) => [binding, { fetch }])),
    ...Object.fromEntries(secrets),
    ...vars,
  });
  if (!parsed.ok) return { isGood: false, lines: parsed.problems };
  const { config } = parsed;
  const { servers, notices, publicOrigin, authMode } = config;
  const slugs = [...servers.keys()];
  const nothing = notices.length === 0 ? "MCP_SERVERS is empty" : "No server can be served";
  const lines = [
    slugs.length === 0 ? `${nothing}, so /mcp answers 503.` : `Served: ${slugs.join(", ")}.`,
    ...notices.map(({ state, sentences }) => `${STATES[state]}: ${sentences.join(" ")}`),
  ];
  if (authMode === "none") lines.push('AUTH_MODE is "none": only loopback hosts are served.');
  else if (publicOrigin === undefined) {
    lines.push("PUBLIC_ORIGIN is not set: only loopback hosts are served.");
  }
  const isAsWritten = notices.every(({ state }) => state === "off");
  return { isGood: isAsWritten || !isStrict, lines, config };
}

function textOf(/** @type {unknown} */ value) {
  return typeof value === "string" ? value : undefined;
}

/** The secrets that the variables name, each with a value of its kind. */
function secretsOf(/** @type {Readonly<Record<string, unknown>>} */ vars) {
  /** @type {Map<string, string>} */
  const found = new Map();
  const walk = (/** @type {unknown} */ value, /** @type {string} */ key) => {
    if (typeof value === "string") {
      for (const name of secretsIn(value)) {
        if (typeof vars[name] === "string") continue;
        found.set(name, key === "privateKey" ? UNKNOWN_KEY : UNKNOWN);
      }
    } else if (typeof value === "object" && value !== null) {
      for (const [member, inner] of Object.entries(value)) walk(inner, member);
    }
  };
  for (const name of ["MCP_SERVERS", "IDENTITY"]) walk(asTable(vars[name]), name);
  return found;
}

function asTable(/** @type {unknown} */ value) {
  if (typeof value !== "string") return value;
  return parseEditorJson(value);
}

if (import.meta.main) {
  const { isGood, lines } = checkConfig(process.argv.slice(2));
  for (const line of lines) (isGood ? process.stdout : process.stderr).write(`${line}\n`);
  process.exitCode = isGood ? 0 : 1;
}
