/** A Worker as it would be deployed: bundled by wrangler, with what it is bound to. */

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import { unstable_readConfig as readConfig } from "wrangler";

import { ROOT } from "./process.ts";
import type { Bundle } from "./workerd-config.ts";

/**
 * @param config a `wrangler.toml`.
 * @param folder where the bundle is written.
 * @param style readable: with the names that its authors gave to things.
 * @throws Error with what wrangler said.
 */
export function bundleWorker(
  config: string,
  folder: string,
  style: "minified" | "readable" = "minified",
): Bundle {
  const { name = "", main = "", ...rest } = readConfig({ config });
  const args = ["deploy", "--config", resolve(config), "--dry-run", "--outdir", folder];
  args.push(style === "minified" ? "--minify" : "--no-minify");
  // No telemetry, no look for an update, and no words on the configuration.
  const quiet = {
    ...{ WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" },
    EDGEWAY_CHECKED: "1",
  };
  const bin = `${ROOT}node_modules/.bin`;
  const env = { ...process.env, ...quiet, PATH: `${bin}:${process.env["PATH"]}` };
  // The build command of another checkout runs there.
  const built = spawnSync(`${bin}/wrangler`, args, { cwd: dirname(config), env, encoding: "utf8" });
  if (built.status !== 0) throw new Error(`${config} was not bundled:\n${built.stderr}`);
  return {
    name,
    path: join(folder, basename(main).replace(/\.ts$/, ".js")),
    data: readdirSync(folder)
      .filter((file) => file.endsWith(".mcpb"))
      .map((file) => join(folder, file)),
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
