/**
 * The direction of imports (ARCHITECTURE.md): a folder knows only what stands to its left, and
 * folders of one rank do not know each other. The pure folders do no I/O and tell no time.
 */

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, test } from "vitest";

import { ROOT } from "../support/process.ts";

const RANKS: readonly (readonly string[])[] = [
  ["lib"],
  ["protocol"],
  ["event-log", "policy", "observability"],
  ["upstream", "sessions", "auth"],
  ["bridge", "federation", "pages"],
  ["downstream"],
  ["app"],
];

const PURE = ["protocol", "event-log", "policy"];
const IMPURE = [
  /\bfetch\(/,
  /\bcrypto\./,
  /\bDate\.now\(/,
  /\bset(?:Timeout|Interval)\(/,
  /\bconsole\./,
  /from "(?:hono|cloudflare:)/,
];

interface SourceFile {
  readonly path: string;
  readonly folder: string;
  readonly text: string;
  /** Paths of the files it imports, relative to the root. */
  readonly imports: readonly string[];
}

function readSources(folder: string): SourceFile[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => {
      const path = join(folder, name);
      const text = readFileSync(join(ROOT, path), "utf8");
      const imports = [...text.matchAll(/^\s*(?:import|export)[^"';]*from "(\.[^"]+)"/gms)].map(
        ([, specifier = ""]) => relative(ROOT, resolve(ROOT, dirname(path), specifier)),
      );
      return { path, folder: folderOf(path), text, imports };
    });
}

/** `src/app.ts`, `src/config.ts` and their like are the outermost rank. */
function folderOf(path: string): string {
  const [top = "", second = ""] = path.split("/");
  if (top !== "src") return top;
  return second.endsWith(".ts") ? "app" : second;
}

const rankOf = (folder: string): number => RANKS.findIndex((rank) => rank.includes(folder));
const sources = readSources("src");
const shells = readSources("durable-objects");

describe("imports", () => {
  test("every folder of src has a rank", ({ expect }) => {
    const unranked = sources.filter(({ folder }) => rankOf(folder) === -1);
    expect(unranked.map(({ path }) => path)).toEqual([]);
  });

  test("point to the left", ({ expect }) => {
    const wrong = sources.flatMap(({ path, folder, imports }) =>
      imports
        .filter((target) => target.startsWith("src/") && folderOf(target) !== folder)
        .filter((target) => rankOf(folderOf(target)) >= rankOf(folder))
        .map((target) => `${path} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test("src knows the Durable Objects in its composition root only", ({ expect }) => {
    const wrong = sources
      .filter(({ path }) => path !== "src/index.ts" && path !== "src/env.d.ts")
      .filter(({ imports }) => imports.some((target) => target.startsWith("durable-objects/")));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test("Durable Objects do not know the routes", ({ expect }) => {
    const wrong = shells.filter(({ imports }) => imports.includes("src/app.ts"));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });
});

describe("purity", () => {
  test.for(PURE)("%s does no I/O and tells no time", (folder, { expect }) => {
    const wrong = sources
      .filter((file) => file.folder === folder)
      .flatMap(({ path, text }) =>
        IMPURE.filter((pattern) => pattern.test(text)).map((pattern) => `${path}: ${pattern}`),
      );
    expect(wrong).toEqual([]);
  });

  test("Env is read where it is allowed to be", ({ expect }) => {
    const readers = [...sources, ...shells].filter(({ text }) => /\bEnv\b/.test(text));
    expect(readers.map(({ path }) => path).toSorted()).toEqual([
      "durable-objects/auth-of.ts",
      "durable-objects/auth-shard-object.ts",
      "durable-objects/bridge-object.ts",
      "durable-objects/fan-out-object.ts",
      "durable-objects/feed-object.ts",
      "durable-objects/keys-of.ts",
      "durable-objects/owner-in.ts",
      "durable-objects/registry-object.ts",
      "durable-objects/registry-of.ts",
      "durable-objects/secrets-of.ts",
      "durable-objects/session-object.ts",
      "durable-objects/session-wiring.ts",
      "src/app.ts",
      "src/config.ts",
      "src/env.d.ts",
    ]);
  });
});
