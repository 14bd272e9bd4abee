/** What Cloudflare's button that deploys reads of a repository (docs/operations.md), as far as it can be seen here. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { parse } from "smol-toml";
import { describe, test } from "vitest";

import packageJson from "../../package.json" with { type: "json" };
import { ROOT } from "../support/process.ts";

const textOf = (path: string): string => readFileSync(join(ROOT, path), "utf8");

describe("the button that deploys", () => {
  test("asks for each secret of the example, with a description, and has no value for it", ({
    expect,
  }) => {
    const secrets = parseEnv(textOf(".dev.vars.example"));
    expect(Object.keys(secrets)).toEqual(Object.keys(packageJson.cloudflare.bindings));
    expect(Object.values(secrets)).toEqual(Object.keys(secrets).map(() => ""));
    for (const { description } of Object.values(packageJson.cloudflare.bindings)) {
      expect(description).toMatch(/\S.+\.$/);
    }
  });

  test("runs the script that sets what is missing, and no build of its own", ({ expect }) => {
    expect(packageJson.scripts.deploy).toBe("node scripts/deploy.mjs");
    expect(Object.keys(packageJson.scripts)).not.toContain("build");
  });

  test("has nothing to make but objects, which are whole in wrangler.toml", ({ expect }) => {
    const { name, durable_objects: objects, exports, ...rest } = parse(textOf("wrangler.toml"));
    expect(name).toBe("edgeway");
    const classes = (objects as { bindings: { class_name: string }[] }).bindings.map(
      ({ class_name }) => class_name,
    );
    expect(classes).toEqual(Object.keys(exports as object));
    const RESOURCES = /^(?:kv_|d1_|r2_|queues|hyperdrive|vectorize|secrets_store|services|ai$)/;
    expect(Object.keys(rest).filter((key) => RESOURCES.test(key))).toEqual([]);
  });
});
