/**
 * `--profile ROW`: the gateway under the load of a row, and where its time goes. The profile itself
 * is left for DevTools.
 */

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openLoad } from "../machinery/load.ts";
import { legacyCall, modernCall, openSession } from "../machinery/mcp.ts";
import { bundles, useReadableGateway } from "../machinery/servers.ts";
import { letDebuggersAttach } from "../machinery/workerd.ts";
import { type CallRow, WAYS } from "../rows/calls.ts";
import { type CallFrame, profileOf } from "./inspector.ts";
import { type Place, whereTimeGoes } from "./where-time-goes.ts";

const CONNECTIONS = 16;
const WARM_UP_SECONDS = 1;
const SECONDS = 3;
const SHOWN = 45;

/** @returns what there is to print. */
export async function profileRow(row: string): Promise<string> {
  if (!isCall(row)) throw new Error(`${row} cannot be profiled: it is no call`);
  const way = WAYS[row];
  const [ours] = way.contenders;
  if (ours === undefined) throw new Error(`${row} has nobody to profile`);
  useReadableGateway();
  letDebuggersAttach();
  const server = await ours.start();
  try {
    const askings = [];
    for (let n = 0; n < CONNECTIONS; n++) {
      askings.push(way.era === "modern" ? modernCall() : legacyCall(await openSession(server.url)));
    }
    const load = openLoad(server.url, askings);
    await load.run(WARM_UP_SECONDS);
    let requests = 0;
    const { inspector = "" } = server;
    const profile = await profileOf(inspector, bundles.gateway().name, async () => {
      requests = (await load.run(SECONDS))["answered"] ?? 0;
    });
    load.close();
    const path = join(mkdtempSync(join(tmpdir(), "edgeway-profile-")), `${row}.cpuprofile`);
    writeFileSync(path, JSON.stringify(profile));
    const where = whereTimeGoes(profile, namesIn(bundles.gateway().path));
    const each = (us: number): string => (us / requests).toFixed(1).padStart(8);
    const lines = (places: readonly Place[], key: "selfUs" | "totalUs"): string[] =>
      places
        .toSorted((a, b) => b[key] - a[key])
        .slice(0, SHOWN)
        .map(({ place, selfUs, totalUs }) => `${each(selfUs)}${each(totalUs)}  ${place}`);
    return [
      `${row}, ${CONNECTIONS} connections: ${requests.toFixed(0)} requests, ${each(where.busyUs).trim()} µs each (profiled)`,
      ...["", "µs each: in the file itself, with what it calls", ...lines(where.files, "selfUs")],
      ...["", "functions by their own time", ...lines(where.functions, "selfUs")],
      ...["", "functions with what they call", ...lines(where.functions, "totalUs")],
      ...["", `The profile, for DevTools: ${path}`, ""],
    ].join("\n");
  } finally {
    await server.stop();
  }
}

function isCall(row: string): row is CallRow {
  return row in WAYS;
}

/** Says of what is in a bundle where it was written. */
function namesIn(bundle: string): (frame: CallFrame) => { file: string; function: string } {
  const map = new SourceMap(JSON.parse(readFileSync(`${bundle}.map`, "utf8")));
  return ({ functionName, url, lineNumber, columnNumber }) => {
    const name = functionName === "" ? "(anonymous)" : functionName;
    const entry = map.findEntry(lineNumber, columnNumber);
    if (!url.endsWith("index.js") || !("originalSource" in entry)) {
      return { file: url === "" ? name : url, function: `${name} ${url}` };
    }
    const file = entry.originalSource.replace(/^(?:\.\.\/)+/, "").replace(/^.*node_modules\//, "");
    return { file, function: `${name} ${file}:${entry.originalLine + 1}` };
  };
}
