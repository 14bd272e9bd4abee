/**
 * `--profile ROW`: the gateway under the load of a row, and where its time goes. The profile itself
 * is left for DevTools.
 */

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { goFirst } from "../machinery/precedence.ts";
import { bundles, useReadableGateway } from "../machinery/servers.ts";
import { letDebuggersAttach } from "../machinery/workerd.ts";
import { type CallFrame, profileOf } from "./inspector.ts";
import { loadsOf, type ProfiledLoad } from "./loads.ts";
import { kindsOf, type Place, whereTimeGoes } from "./where-time-goes.ts";

const SHOWN = 45;

/** @returns what there is to print. */
export async function profileRow(row: string): Promise<string> {
  const loads = loadsOf(row);
  goFirst();
  useReadableGateway();
  letDebuggersAttach();
  let printed = "";
  for (const load of loads) printed += await profileLoad(load);
  return printed;
}

async function profileLoad({ name, units, start, prepare }: ProfiledLoad): Promise<string> {
  const server = await start();
  try {
    const work = await prepare(server);
    let done = 0;
    const { inspector = "" } = server;
    const profile = await profileOf(inspector, bundles.gateway().name, async () => {
      done = await work.run();
    });
    work.close();
    const path = join(mkdtempSync(join(tmpdir(), "edgeway-profile-")), "gateway.cpuprofile");
    writeFileSync(path, JSON.stringify(profile));
    const where = whereTimeGoes(profile, namesIn(bundles.gateway().path));
    const share = (us: number): string => `${((100 * us) / where.busyUs).toFixed(1)} %`.padStart(7);
    const each = (us: number): string => (us / done).toFixed(1).padStart(8);
    const lines = (places: readonly Place[], key: "selfUs" | "totalUs"): string[] =>
      places
        .toSorted((a, b) => b[key] - a[key])
        .slice(0, SHOWN)
        .map(
          ({ place, selfUs, totalUs }) =>
            `${share(selfUs)}${each(selfUs)}${each(totalUs)}  ${place}`,
        );
    return [
      `${name}: ${done.toFixed(0)} ${units}, ${each(where.busyUs).trim()} µs each (profiled)`,
      ...[
        "",
        "share; µs each: in itself, with what it calls",
        ...lines(kindsOf(where.files), "selfUs"),
      ],
      ...["", "files", ...lines(where.files, "selfUs")],
      ...["", "functions by their own time", ...lines(where.functions, "selfUs")],
      ...["", "functions with what they call", ...lines(where.functions, "totalUs")],
      ...["", `The profile, for DevTools: ${path}`, "", ""],
    ].join("\n");
  } finally {
    await server.stop();
  }
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
    const file = entry.originalSource.includes("node_modules/")
      ? entry.originalSource.replace(/^.*node_modules\//, "")
      : entry.originalSource.replace(/^.*?(?=(?:src|durable-objects)\/)/, "");
    return { file, function: `${name} ${file}:${entry.originalLine + 1}` };
  };
}
