/**
 * Builds the command: one file without dependencies. `node cli/build.mjs` does it by hand, for a package to be
 * published.
 */

import { mkdirSync, readdirSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
export const BUILT = join(here, "dist", "edgeway.mjs");
/** All that may be in it. */
const SOURCES = [here, join(here, "../src/lib"), join(here, "../src/protocol")];

/** @returns whether the built file is there, and no older than its sources. */
export function isBuilt() {
  const builtAt = statSync(BUILT, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return builtAt >= Math.max(...SOURCES.flatMap(timesIn));
}

function timesIn(/** @type {string} */ folder) {
  // By names: an entry does not say where it is before Node 20.12.
  return readdirSync(folder, { encoding: "utf8", recursive: true })
    .filter((name) => /\.(?:ts|mjs)$/.test(name))
    .map((name) => join(folder, name))
    .filter((path) => path !== BUILT)
    .map((path) => statSync(path).mtimeMs);
}

/**
 * Replaces the file at once: other hosts may be starting it.
 *
 * @returns its size, and what each folder has of it, the largest first.
 */
export async function build(outfile = BUILT) {
  // wrangler brings it.
  const { build: bundle } = await import("esbuild");
  const made = `${outfile}.${process.pid}`;
  mkdirSync(dirname(outfile), { recursive: true });
  const { metafile } = await bundle({
    entryPoints: [join(here, "main.ts")],
    outfile: made,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    minify: true,
    legalComments: "none",
    charset: "utf8",
    banner: { js: "#!/usr/bin/env node" },
    metafile: true,
    logLevel: "silent",
  });
  renameSync(made, outfile);
  const [{ bytes, inputs } = { bytes: 0, inputs: {} }] = Object.values(metafile.outputs);
  return { bytes, parts: partsOf(inputs) };
}

/** @param {Record<string, { bytesInOutput: number }>} inputs */
function partsOf(inputs) {
  /** @type {Map<string, number>} */
  const sizes = new Map();
  for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
    const [part = ""] = /(?:cli|src)\/[^/]+/.exec(path) ?? [];
    const name = part.endsWith(".ts") ? "the rest" : part || "the rest";
    sizes.set(name, (sizes.get(name) ?? 0) + bytesInOutput);
  }
  return [...sizes].toSorted(([, one], [, other]) => other - one);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build();
