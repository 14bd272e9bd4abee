/**
 * `npm run pack:mcpb` packs the command as a bundle for Claude Desktop. It runs before each build of the Worker,
 * which brings the bundle with it, as a module that is no code.
 */

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build, BUILT, isBuilt } from "./build.mjs";
import { MCPB_ENTRY, mcpbManifest } from "./mcpb-manifest.mjs";
import { zip } from "./zip.mjs";

const PACKED = fileURLToPath(new URL("dist/edgeway.mcpb", import.meta.url));

/** Replaces the file at once, and only by another: wrangler watches it, and a gateway may be reading it. */
export async function packMcpb(outfile = PACKED) {
  if (!isBuilt()) await build();
  const { version } = JSON.parse(readFileSync(join(dirname(BUILT), "../package.json"), "utf8"));
  const manifest = `${JSON.stringify(mcpbManifest(version), null, 2)}\n`;
  const archive = zip([
    { path: "manifest.json", bytes: Buffer.from(manifest) },
    { path: MCPB_ENTRY, bytes: readFileSync(BUILT) },
  ]);
  if (existsSync(outfile) && archive.equals(readFileSync(outfile))) return;
  mkdirSync(dirname(outfile), { recursive: true });
  // Beside it: a file is renamed only within one file system.
  const made = `${outfile}.${process.pid}`;
  writeFileSync(made, archive);
  renameSync(made, outfile);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await packMcpb();
