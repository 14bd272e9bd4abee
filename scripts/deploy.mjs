/**
 * `npm run deploy`: checks the configuration, sets the secrets that are missing, and deploys. Arguments are
 * wrangler's; with `--dry-run` it does what needs no account, and says what else it would do.
 */

import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";

import { askSecret } from "./ask-secret.mjs";
import { checkConfig, judge, readConfiguration } from "./check-config.mjs";
import { deployWorker, secretsOfWorker, setSecrets } from "./worker-secrets.mjs";

/** @typedef {import("./check-config.mjs").Configuration} Configuration */
/** @typedef {ReturnType<typeof judge>["config"]} Config */

/**
 * The root of the keys of sign-in is made for a new Worker only. A gateway that ran without one has made its own
 * and keeps it: another one would sign everybody out, and would not open the accounts that people have connected.
 */
const ROOT = "AUTH_SECRET";
const ROOT_BYTES = 32;
/** Asked for by a new Worker only: in one that runs, the owner may have made a code, which this would replace. */
const CODE = "OWNER_CODE";
const LINK = `Without ${CODE}, the first visit of /login writes a link to the log, with which the owner makes a code: npx wrangler tail`;
/** Understood here, and not by wrangler. */
const STRICT = "--strict";

/**
 * @typedef {{
 *   readonly say: (line: string) => void,
 *   readonly ask?: ((question: string) => Promise<string>) | undefined,
 * }} Terminal without `ask`, nobody is asked.
 */

/**
 * @param {readonly string[]} args
 * @param {Terminal} terminal
 * @returns {Promise<number>} the exit code.
 */
export async function deploy(args, terminal) {
  const { say } = terminal;
  const { isGood, lines } = checkConfig(args);
  for (const line of lines) say(line);
  const forWrangler = args.filter((arg) => arg !== STRICT);
  const isDryRun = args.includes("--dry-run");
  if (isGood && isDryRun) {
    say(`A new Worker would get an ${ROOT}; one that exists keeps the secrets that it has.`);
  }
  if (isGood && (isDryRun || (await settleSecrets(args, lines, terminal)))) {
    return deployWorker(forWrangler);
  }
  say("Nothing was deployed.");
  return 1;
}

/**
 * @param {readonly string[]} args
 * @param {readonly string[]} checked what was said of the configuration.
 * @param {Terminal} terminal
 * @returns {Promise<boolean>} whether the gateway can serve with the secrets that are set now.
 */
async function settleSecrets(args, checked, { say, ask }) {
  const place = placeOf(args);
  const found = await secretsOfWorker(place);
  if ("failure" in found) {
    say(found.failure);
    say("wrangler does not say which secrets are set. If it is not logged in: npx wrangler login");
    return false;
  }
  const configuration = readConfiguration(args);
  const missing = missingIn(configuration, found);
  const entered = await answersTo(missing, ask);
  const known = [...configuration.secrets].filter(([name]) => found.names.includes(name));
  const { isGood, lines, config } = judge(configuration, new Map([...known, ...entered]));
  // Without what is still missing, it may serve less than was said before.
  const changed = lines.filter((line) => !checked.includes(line));
  for (const line of changed) say(line);
  if (!isGood) return false;

  const isRootNeeded =
    found.isNew && config?.authMode === "oauth" && config.authSecret === undefined;
  const secrets = new Map(entered);
  if (missing.includes(CODE) && !entered.has(CODE)) say(LINK);
  if (isRootNeeded) secrets.set(ROOT, randomBytes(ROOT_BYTES).toString("base64url"));
  if (secrets.size === 0) return true;
  const failure = await setSecrets(secrets, place);
  say(failure ?? `Set: ${[...secrets.keys()].join(", ")}.`);
  return failure === undefined;
}

/**
 * The secrets that only people know.
 *
 * @param {Configuration} configuration
 * @param {{ isNew: boolean, names: readonly string[] }} found
 */
function missingIn(configuration, { isNew, names }) {
  const named = [...configuration.secrets.keys()].filter((name) => !names.includes(name));
  const { config } = judge(configuration);
  const owner = config?.authMode === "oauth" && config.identity.find(isOwner);
  return isNew && owner && owner.code === undefined ? [...named, CODE] : named;
}

function isOwner(/** @type {{ provider: string }} */ { provider }) {
  return provider === "owner";
}

/**
 * @param {readonly string[]} names
 * @param {Terminal["ask"]} ask
 * @returns {Promise<ReadonlyMap<string, string>>} those that were answered.
 */
async function answersTo(names, ask) {
  /** @type {Map<string, string>} */
  const answers = new Map();
  if (ask === undefined) return answers;
  for (const name of names) {
    const answer = await ask(`${name}${HINTS[name] ?? ""} (not shown; Enter leaves it out): `);
    if (answer !== "") answers.set(name, answer);
  }
  return answers;
}

/** @type {Readonly<Record<string, string>>} */
const HINTS = { [CODE]: ", which you sign in with: 20 characters or more" };

/** @returns {readonly string[]} the arguments that say which Worker it is. */
function placeOf(/** @type {readonly string[]} */ args) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      config: { type: "string", short: "c" },
      env: { type: "string", short: "e" },
      name: { type: "string" },
    },
    strict: false,
  });
  return Object.entries(values).flatMap(([name, value]) =>
    ["config", "env", "name"].includes(name) ? [`--${name}`, String(value)] : [],
  );
}

if (import.meta.main) {
  process.exitCode = await deploy(process.argv.slice(2), {
    say: (line) => process.stderr.write(`${line}\n`),
    ask: process.stdin.isTTY ? askSecret : undefined,
  });
}
