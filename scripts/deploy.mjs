/** `npm run deploy`: checks the configuration, and deploys it if the gateway could serve with it. Arguments are wrangler's. */

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

import { checkConfig } from "./check-config.mjs";

const WRANGLER = fileURLToPath(
  new URL("../node_modules/wrangler/bin/wrangler.js", import.meta.url),
);
const args = process.argv.slice(2);
const { isGood, lines } = checkConfig(args);
for (const line of lines) process.stderr.write(`${line}\n`);
if (isGood) {
  const own = new Set(["--strict"]);
  const child = spawn(
    process.execPath,
    [WRANGLER, "deploy", ...args.filter((arg) => !own.has(arg))],
    {
      stdio: "inherit",
    },
  );
  child.on("exit", (code) => (process.exitCode = code ?? 1));
} else {
  process.stderr.write("Nothing was deployed.\n");
  process.exitCode = 1;
}
