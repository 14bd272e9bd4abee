/** Why a port could not be opened, in words: who has it, by what can be told, and what to do. */

import { basename } from "node:path";

import { outputOf } from "./output-of.mjs";

const PROBE_MS = 2000;

/** @param code of the error of `listen`. */
export async function whyNotOpened(
  /** @type {string | undefined} */ code,
  /** @type {number} */ port,
) {
  if (code !== "EADDRINUSE") return `Port ${port} cannot be opened (${code}). ${choose(port)}`;
  const [version, owner] = await Promise.all([edgewayAt(port), ownerOf(port)]);
  const who = version === undefined ? "another program" : `another Edgeway (${version})`;
  const process = owner === undefined ? "" : `, ${owner}`;
  return `Port ${port} is taken by ${who}${process}. ${choose(port)}`;
}

function choose(/** @type {number} */ port) {
  const other = port < 65_535 ? port + 1 : port - 1;
  return `Choose another: npm start -- --port ${other}; or --port 0 for any that is free.`;
}

/** @returns the version of the gateway that answers there, if one does. */
async function edgewayAt(/** @type {number} */ port) {
  try {
    const signal = AbortSignal.timeout(PROBE_MS);
    const health = await (await fetch(`http://localhost:${port}/health`, { signal })).json();
    const { status, version } = /** @type {Record<string, unknown>} */ (health);
    return status === "ok" && typeof version === "string" && /^[\w.+-]{1,40}$/.test(version)
      ? version
      : undefined;
  } catch {
    return undefined;
  }
}

/** @returns its process, where the system tells: `lsof` knows those of the own user. */
async function ownerOf(/** @type {number} */ port) {
  const id = /^\d+/.exec(await outputOf("lsof", ["-nPt", `-iTCP:${port}`, "-sTCP:LISTEN"]))?.[0];
  if (id === undefined) return undefined;
  // The program alone: there may be secrets among its arguments.
  const [program = ""] = (await outputOf("ps", ["-o", "args=", "-p", id])).split(" ");
  return `process ${id} (${basename(program)})`;
}
