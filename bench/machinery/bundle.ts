/** A Worker as it would be deployed: bundled and minified by wrangler, with what it is bound to. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";

import { unstable_readConfig as readConfig } from "wrangler";

import { bin, inBench, inRoot, scratch } from "./project.ts";

export interface Bundle {
  readonly name: string;
  /** The one file that there is. */
  readonly path: string;
  readonly bytes: number;
  readonly gzipBytes: number;
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly objects: readonly { readonly binding: string; readonly className: string }[];
}

export const buildGateway = (): Bundle => build(inRoot("wrangler.toml"), "minified");
export const buildPeer = (name: string): Bundle =>
  build(inBench("peers", `${name}.toml`), "minified");
/** With the names that its authors gave to things. @param checkout another version of the project. */
export const buildReadableGateway = (checkout = inRoot()): Bundle =>
  build(join(checkout, "wrangler.toml"), "readable");

/** @throws Error with what wrangler said. */
function build(config: string, style: "minified" | "readable"): Bundle {
  const { name = "", main = "", ...rest } = readConfig({ config });
  const folder = scratch("bundles", style, name);
  const args = ["deploy", "--config", config, "--dry-run", "--outdir", folder];
  args.push(style === "minified" ? "--minify" : "--no-minify");
  // No telemetry, no look for an update.
  const quiet = { WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" };
  const path = `${inRoot("node_modules", ".bin")}:${process.env["PATH"]}`;
  const env = { ...process.env, ...quiet, PATH: path };
  const built = spawnSync(bin("wrangler"), args, { cwd: inRoot(), env, encoding: "utf8" });
  if (built.status !== 0) throw new Error(`${config} was not bundled:\n${built.stderr}`);
  const file = join(folder, basename(main).replace(/\.ts$/, ".js"));
  const code = readFileSync(file);
  return {
    ...{ name, path: file, bytes: code.byteLength, gzipBytes: gzipSync(code).byteLength },
    compatibilityDate: rest.compatibility_date ?? "",
    compatibilityFlags: rest.compatibility_flags,
    objects: objectsOf(rest),
  };
}

/** The types of wrangler leave this open. */
function objectsOf(config: object): Bundle["objects"] {
  const { durable_objects: objects } = config as {
    readonly durable_objects: {
      readonly bindings: readonly { readonly name: string; readonly class_name: string }[];
    };
  };
  return objects.bindings.map(({ name, class_name }) => ({ binding: name, className: class_name }));
}
