/** What a program of the system prints; nothing where there is no such program, or it fails. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";

const LIMIT_MS = 2000;

export async function outputOf(
  /** @type {string} */ command,
  /** @type {readonly string[]} */ args,
) {
  try {
    return (await promisify(execFile)(command, args, { timeout: LIMIT_MS })).stdout.trim();
  } catch {
    return "";
  }
}
