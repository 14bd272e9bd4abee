/** What was measured, by version. */

import { readFileSync } from "node:fs";
import { cpus } from "node:os";

import { inBench, inRoot } from "./machinery/project.ts";

const PEERS = [
  ...["agents", "@modelcontextprotocol/server", "@modelcontextprotocol/sdk"],
  ...["mcp-proxy", "supergateway"],
];

/** In one line. */
export function versions(): string {
  const peers = PEERS.map((name) => `${name} ${versionOf(inBench("node_modules", name))}`);
  const workerd = `workerd ${versionOf(inRoot("node_modules", "workerd"))}`;
  const [cpu] = cpus();
  const machine = `${cpus().length} × ${cpu?.model ?? "unknown processor"}`;
  return [
    ...[`Edgeway ${versionOf(inRoot())}`, ...peers, workerd, `Node ${process.versions.node}`],
    ...[machine, new Date().toISOString().slice(0, 10)],
  ].join(", ");
}

function versionOf(folder: string): string {
  const text = readFileSync(`${folder}/package.json`, "utf8");
  const { version } = JSON.parse(text) as { readonly version: string };
  return version;
}
