/**
 * The build command of wrangler.toml: packs the command for Claude Desktop, and before a deploy says what is wrong in
 * the configuration. It stops nothing: wrangler tells a build command neither which file nor which environment it
 * deploys. `npm run deploy` knows both, has said it already, and stops.
 */

import { packMcpb } from "../cli/pack-mcpb.mjs";

await packMcpb();

const { WRANGLER_COMMAND = "", EDGEWAY_CHECKED } = process.env;
if (["deploy", "versions upload"].includes(WRANGLER_COMMAND) && EDGEWAY_CHECKED === undefined) {
  await sayWhatIsWrong();
}

async function sayWhatIsWrong() {
  try {
    const { checkConfig } = await import("./check-config.mjs");
    const { isGood, lines } = checkConfig([]);
    for (const line of lines) say(line);
    if (!isGood) say("With this configuration, the gateway answers every request with 503.");
  } catch {
    // A Node that reads no TypeScript, or a file that has another name.
    say('The configuration was not checked: "npm run check-config" does.');
  }
}

/** wrangler shows what is an error in red. */
function say(/** @type {string} */ line) {
  process.stdout.write(`${line}\n`);
}
