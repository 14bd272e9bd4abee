/** Asks a person for a secret at the terminal, which does not show it. */

import { createInterface } from "node:readline";
import { Writable } from "node:stream";

/** @returns {Promise<string>} what was typed, without spaces around it; empty if that was nothing. */
export function askSecret(/** @type {string} */ question) {
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: hidden, terminal: true });
  process.stderr.write(question);
  return new Promise((resolve) => {
    let typed = "";
    reader.on("line", (line) => {
      typed = line.trim();
      reader.close();
    });
    reader.on("SIGINT", () => process.exit(130));
    reader.on("close", () => {
      process.stderr.write("\n");
      resolve(typed);
    });
  });
}
