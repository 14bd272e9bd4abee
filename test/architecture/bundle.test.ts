/** What `wrangler deploy` uploads, with no option but those of wrangler.toml: small, and free of what only tests and the demo need. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, test } from "vitest";

import { ROOT } from "../support/process.ts";

/**
 * The authorization server's library alone is 40 KiB, and cannot be had in parts; with the client
 * side of OpenID Connect, signatures and the pages, sign-in is more than half of the whole. The bridge
 * between the eras is 22 KiB, and what keeps the digits of numbers is 1. Accounts at servers take 39: the gateway as
 * a client of authorization servers, the vaults and their pages. The catalog and its forms that run tools take 12, and
 * reading the maps of MCP clients 4. What was called, with its pages, takes 14; servers that are added without a deploy,
 * with theirs, 15; published servers 11; what needs the operator 7; traces 3; that news of accounts arrives whatever dies, 2; that
 * nothing is lost while operators change servers and people pause theirs, 5; what pages say of what was not done, 1; that
 * answers, tasks and watches outlive their objects in orders that reading has found, 4; tasks that are their clients'
 * own, sign-in that outlives failures, and pages that lose nothing that was typed, 6. A new part has to earn its place: dividing
 * the bundle is what is left.
 */
const MAX_GZIP_BYTES = 400 * 1024;
const KEPT_OUT = /node_modules\/(@modelcontextprotocol|ajv|zod\/v4\/classic)\//;

describe("the deployed bundle", () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "edgeway-bundle-"));
    const args = ["deploy", "--dry-run", "--metafile", "--outdir", folder];
    const PATH = `${ROOT}node_modules/.bin:${process.env["PATH"]}`;
    const env = {
      ...process.env,
      PATH,
      WRANGLER_SEND_METRICS: "false",
      WRANGLER_HIDE_BANNER: "true",
    };
    execFileSync(`${ROOT}node_modules/.bin/wrangler`, args, { cwd: ROOT, env, stdio: "pipe" });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("stays under 400 KiB gzip", ({ expect }) => {
    const bytes = gzipSync(readFileSync(join(folder, "index.js"))).byteLength;
    expect(bytes).toBeLessThan(MAX_GZIP_BYTES);
  });

  test("exports each Durable Object under its own name, and brings a source map", ({ expect }) => {
    const code = readFileSync(join(folder, "index.js"), "utf8");
    const toml = readFileSync(`${ROOT}wrangler.toml`, "utf8");
    const classes = [...toml.matchAll(/^class_name = "(\w+)"$/gm)].map(([, name = ""]) => name);
    expect(classes.length).toBeGreaterThan(5);
    for (const name of classes) expect(code).toMatch(new RegExp(`export\\s*{[^}]*\\b${name}\\b`));
    expect(readdirSync(folder)).toContain("index.js.map");
    expect(toml).toMatch(/^upload_source_maps = true$/m);
  });

  // V8 parses the whole bundle again to find the position of the first error: 18 ms of a start of 64.
  test("creates no error while it is evaluated", ({ expect }) => {
    const args = [`${ROOT}scripts/evaluate-bundle.mjs`, join(folder, "index.js")];
    const { errors } = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
    expect(errors).toEqual([]);
  });

  test("has no SDK runtime, no ajv and no full zod in it", ({ expect }) => {
    const meta: { inputs: Record<string, unknown> } = JSON.parse(
      readFileSync(join(folder, "bundle-meta.json"), "utf8"),
    );
    expect(Object.keys(meta.inputs).length).toBeGreaterThan(10);
    expect(Object.keys(meta.inputs).filter((path) => KEPT_OUT.test(path))).toEqual([]);
  });
});
