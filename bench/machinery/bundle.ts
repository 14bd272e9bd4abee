/** The bundles that are measured, and how large they are. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { bundleWorker } from "../../test/support/bundle.ts";
import type { Bundle as Deployable } from "../../test/support/workerd-config.ts";
import { inBench, inRoot, scratch } from "./project.ts";

export interface Bundle extends Deployable {
  readonly bytes: number;
  readonly gzipBytes: number;
}

/** @param checkout another version of the project, with its packages installed. */
export const buildGateway = (checkout = inRoot()): Bundle =>
  build(join(checkout, "wrangler.toml"), "minified");
export const buildPeer = (name: string): Bundle =>
  build(inBench("peers", `${name}.toml`), "minified");
/** With the names that its authors gave to things. @param checkout another version of the project. */
export const buildReadableGateway = (checkout = inRoot()): Bundle =>
  build(join(checkout, "wrangler.toml"), "readable");

function build(config: string, style: "minified" | "readable"): Bundle {
  const bundle = bundleWorker(config, scratch("bundles", style, config), style);
  const code = readFileSync(bundle.path);
  return { ...bundle, bytes: code.byteLength, gzipBytes: gzipSync(code).byteLength };
}
