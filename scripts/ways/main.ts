/**
 * `npm run ways`: which files of the source run for each way through the gateway, and what the source
 * counts. `-- --list WAY` prints the files with the functions that ran; `-- --checkout DIR` measures
 * another checkout, whose packages are installed.
 *
 * A function counts if it begins, or a loop of it turns, while a warm request is under way. What runs
 * when a module is loaded does not count.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { buildReadableGateway, type Bundle } from "../../bench/machinery/bundle.ts";
import { startProgram } from "../../bench/machinery/children.ts";
import { inRoot, NODE } from "../../bench/machinery/project.ts";
import { startWorkerd } from "../../bench/machinery/workerd.ts";
import { freePort } from "../../test/support/free-port.ts";
import { OWNER_CODE } from "../../test/support/oauth-owner.ts";
import { censusOf } from "./census.ts";
import { type FilesThatRan, filesThatRan, summaryOf } from "./files-that-ran.ts";
import { COUNTS_PATH, instrument } from "./instrument.ts";
import { type Origins, type Way, type WayName, WAYS } from "./ways.ts";

const WARM_UPS = 3;
/** What follows an answer, as a line of the log, is part of it. */
const SETTLE_MS = 100;
const FOLDERS = ["src", "durable-objects"];

const { values } = parseArgs({
  options: {
    checkout: { type: "string", default: inRoot() },
    list: { type: "string", multiple: true, default: [] },
  },
});
const checkout = resolve(values.checkout);
const names = Object.keys(WAYS) as WayName[];
const listed = names.filter((name) => values.list.includes(name));
if (listed.length !== values.list.length) {
  process.stderr.write(`--list is one of ${names.join(", ")}\n`);
  process.exit(2);
}

const bundle = buildReadableGateway(checkout);
const { code, functions } = instrument(readFileSync(bundle.path, "utf8"));
writeFileSync(bundle.path, code);
const measured = await measure(bundle, listed.length === 0 ? names : listed);
process.stdout.write(listed.length === 0 ? report(measured) : list(measured));
process.exit(0);

async function measure(
  bundle: Bundle,
  ways: readonly WayName[],
): Promise<ReadonlyMap<WayName, FilesThatRan>> {
  const port = await freePort();
  const fixture = `http://localhost:${port}/mcp`;
  const main = inRoot("test", "fixture-server", "main.ts");
  const program = await startProgram(NODE, [main, String(port)], fixture);
  const servers = {
    modern: { url: fixture, era: "modern" },
    legacy: { url: fixture, era: "legacy" },
  };
  const vars = { MCP_SERVERS: JSON.stringify(servers) };
  const open = await startWorkerd([{ bundle, vars: { ...vars, AUTH_MODE: "none" } }]);
  const signIn = await startWorkerd([{ bundle, vars: { ...vars, OWNER_CODE } }]);
  const [openOrigin = "", signInOrigin = ""] = [...open.origins, ...signIn.origins];
  const origins: Origins = { open: openOrigin, signIn: signInOrigin, fixture };
  try {
    const found = new Map<WayName, FilesThatRan>();
    for (const name of ways) {
      const way: Way = WAYS[name];
      found.set(name, await follow(origins[way.gateway], await way.prepare(origins)));
    }
    return found;
  } finally {
    await Promise.all([open.stop(), signIn.stop(), program.stop()]);
  }
}

/** @returns the files that run when the way is gone once more. */
async function follow(origin: string, go: () => Promise<void>): Promise<FilesThatRan> {
  for (let n = 0; n < WARM_UPS; n++) await go();
  await sleep(SETTLE_MS);
  await takeCounts(origin);
  await go();
  await sleep(SETTLE_MS);
  const counts = await takeCounts(origin);
  return filesThatRan(functions.filter((_, n) => counts[n] !== 0));
}

/** @returns how often each function ran since the last time. */
async function takeCounts(origin: string): Promise<readonly number[]> {
  const response = await fetch(origin + COUNTS_PATH);
  return (await response.json()) as readonly number[];
}

function report(found: ReadonlyMap<WayName, FilesThatRan>): string {
  const paths = FOLDERS.flatMap((folder) =>
    readdirSync(join(checkout, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") || path.endsWith(".tsx"))
      .map((path) => `${folder}/${path}`),
  );
  const texts = paths.map((path) => ({ path, text: readFileSync(join(checkout, path), "utf8") }));
  const { files, lines, exportedTwice, baseNamesTwice } = censusOf(texts);
  return [
    `${"files that run (without general parts)".padEnd(56)}files        folders`,
    ...[...found].map(([name, ran]) => {
      const { files, folders, filesToRead } = summaryOf(ran);
      const title = `${name.padEnd(12)} ${WAYS[name].title}`;
      return `${title.padEnd(56)} ${`${files} (${filesToRead})`.padEnd(13)}${folders}`;
    }),
    "",
    `src and durable-objects: ${files} files, ${lines} lines`,
    `exported names that occur twice or more: ${counted(exportedTwice)}`,
    `base names that occur twice or more: ${counted(baseNamesTwice)}`,
    "",
  ].join("\n");
}

function counted(names: ReadonlyMap<string, number>): string {
  return [`${names.size}`, ...[...names].map(([name, count]) => `  ${count} ${name}`)].join("\n");
}

function list(found: ReadonlyMap<WayName, FilesThatRan>): string {
  return [...found]
    .map(([name, ran]) => {
      const files = [...ran].map(([path, names]) => `${path}\n    ${names.join(", ")}\n`);
      return `${WAYS[name].title}\n\n${files.join("")}\n`;
    })
    .join("");
}
