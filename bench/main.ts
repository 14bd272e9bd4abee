/** `npm run bench`: Edgeway beside what people would pick instead, in one run, on this machine. */

import { type Arguments, parseArguments } from "./arguments.ts";
import { compareRuns } from "./compare.ts";
import { installPeers } from "./machinery/install.ts";
import { ROW_NAMES } from "./row-names.ts";

/** What is measured is only loaded when it is there. @returns whether all went well. */
async function run(given: Arguments): Promise<boolean> {
  if (given.compare !== undefined) return compareRuns(given.compare);
  installPeers();
  if (given.profile !== undefined) {
    const { profileRow } = await import("./profile/profile-row.ts");
    process.stdout.write(await profileRow(given.profile));
    return true;
  }
  const { bench } = await import("./bench.ts");
  return bench(given);
}

const parsed = parseArguments(process.argv.slice(2), ROW_NAMES);
if (!parsed.ok) {
  process.stderr.write(`${parsed.problem}\n`);
  process.exit(2);
}
try {
  process.exit((await run(parsed.arguments)) ? 0 : 1);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
