/**
 * The secrets of a deployed Worker, by wrangler. Their values go to wrangler's standard input: they are on no
 * command line, in no file and in no output.
 */

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const WRANGLER = fileURLToPath(
  new URL("../node_modules/wrangler/bin/wrangler.js", import.meta.url),
);
/** What `secret list` says of a Worker that does not exist. Any other failure says nothing of that. */
const NOT_FOUND = /Worker "[^"\n]*"(?: \(env: [^\n]*\))? not found\./;

/**
 * @param {readonly string[]} place which Worker: `--config`, `--env` and `--name`.
 * @returns {Promise<{ isNew: boolean, names: readonly string[] } | { failure: string }>} the names of its
 *   secrets, or why they are not known.
 */
export async function secretsOfWorker(place) {
  const { code, stdout, stderr } = await wrangler(["secret", "list", ...place]);
  if (code !== 0) {
    const said = stdout + stderr;
    return NOT_FOUND.test(said) ? { isNew: true, names: [] } : { failure: said.trim() };
  }
  const listed = /** @type {readonly { name: string }[]} */ (JSON.parse(stdout));
  return { isNew: false, names: listed.map(({ name }) => name) };
}

/**
 * Sets them all at once, in a new Worker if there is none yet.
 *
 * @param {ReadonlyMap<string, string>} secrets
 * @param {readonly string[]} place as above.
 * @returns {Promise<string | undefined>} what went wrong.
 */
export async function setSecrets(secrets, place) {
  const input = JSON.stringify(Object.fromEntries(secrets));
  const { code, stdout, stderr } = await wrangler(["secret", "bulk", ...place], input);
  return code === 0 ? undefined : (stdout + stderr).trim();
}

/** @returns {Promise<number>} the exit code of wrangler, which shows what it does. */
export function deployWorker(/** @type {readonly string[]} */ args) {
  // The build command need not say again what is wrong.
  const env = { ...process.env, EDGEWAY_CHECKED: "1" };
  const child = spawn(process.execPath, [WRANGLER, "deploy", ...args], { stdio: "inherit", env });
  return new Promise((resolve) => child.on("exit", (code) => resolve(code ?? 1)));
}

/**
 * @param {readonly string[]} args
 * @returns {Promise<{ code: number, stdout: string, stderr: string }>}
 */
async function wrangler(args, input = "") {
  const child = spawn(process.execPath, [WRANGLER, ...args]);
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  // It may end without having read anything.
  child.stdin.on("error", () => undefined).end(input);
  const code = await new Promise((resolve) => child.on("close", (ended) => resolve(ended ?? 1)));
  return { code, stdout, stderr };
}
