/**
 * The direction of imports (ARCHITECTURE.md), at two levels. A room of `src` knows only the rooms to
 * its left, and rooms of one rank do not know each other. The folders inside a room import one
 * another in one direction. The pure folders do no I/O and read no clock.
 */

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, test } from "vitest";

import { ROOT } from "../support/process.ts";

const RANKS: readonly (readonly string[])[] = [
  ["lib"],
  ["protocol"],
  ["policy", "observability"],
  ["upstream"],
  ["accounts", "publishing"],
  ["endpoint"],
  ["catalog", "sessions"],
  ["relay"],
  ["notifications"],
  ["dispatch"],
  ["http"],
  ["config"],
  ["app"],
];

/** Sign-in stands beside the relay: neither knows the other, and `http` and `app` know both. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  auth: ["lib", "protocol", "policy", "observability"],
  activity: ["lib", "protocol", "policy", "observability"],
  pages: [
    "lib",
    "protocol",
    "policy",
    "observability",
    "auth",
    "accounts",
    "activity",
    "publishing",
  ],
};
const KNOWS_ALL = ["http", "config", "app"];

const PURE = ["protocol", "sessions/log", "policy"];
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
  readonly room: string;
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
      return { path, room: roomOf(path), text, imports };
    });
}

/** The files of `src` itself are the outermost rank. */
function roomOf(path: string): string {
  const [top = "", second = ""] = path.split("/");
  if (top !== "src") return top;
  return second.endsWith(".ts") ? "app" : second;
}

const rankOf = (room: string): number => RANKS.findIndex((rank) => rank.includes(room));
const sources = readSources("src");
const shells = readSources("durable-objects");
const command = readSources("cli");

function mayKnow(room: string, other: string): boolean {
  const known = BESIDE[room];
  if (known !== undefined) return known.includes(other);
  if (BESIDE[other] !== undefined) return KNOWS_ALL.includes(room);
  return rankOf(other) < rankOf(room);
}

/** The imports between folders of one room: from each folder to those that it knows. */
function folderImports(): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const edges = new Map<string, Map<string, string>>();
  for (const { path, room, imports } of [...sources, ...command]) {
    for (const target of imports) {
      const [from, to] = [dirname(path), dirname(target)];
      if (from === to || roomOf(target) !== room || /^(?!src|cli)/.test(target)) continue;
      const known = edges.get(from) ?? new Map<string, string>();
      edges.set(from, known.set(to, `${path} -> ${target}`));
    }
  }
  return edges;
}

/** @returns the imports that lead from a folder back to it; none where there is no cycle. */
function cycleFrom(start: string): readonly string[] {
  const edges = folderImports();
  const walk = (folder: string, seen: ReadonlySet<string>): readonly string[] | undefined => {
    for (const [next, why] of edges.get(folder) ?? []) {
      if (next === start) return [why];
      const rest = seen.has(next) ? undefined : walk(next, new Set([...seen, next]));
      if (rest !== undefined) return [why, ...rest];
    }
    return undefined;
  };
  return walk(start, new Set([start])) ?? [];
}

describe("in src,", () => {
  test("every folder of src is a room", ({ expect }) => {
    const unknown = sources.filter(({ room }) => rankOf(room) === -1 && BESIDE[room] === undefined);
    expect(unknown.map(({ path }) => path)).toEqual([]);
  });

  test("imports between rooms point to the left", ({ expect }) => {
    const wrong = sources.flatMap(({ path, room, imports }) =>
      imports
        .filter((target) => target.startsWith("src/") && roomOf(target) !== room)
        .filter((target) => !mayKnow(room, roomOf(target)))
        .map((target) => `${path} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test("imports between the folders of a room have no cycle", ({ expect }) => {
    const folders = new Set([...sources, ...command].map(({ path }) => dirname(path)));
    expect([...folders].flatMap((folder) => cycleFrom(folder))).toEqual([]);
  });

  test("the command knows of the gateway only its general parts and the protocol", ({ expect }) => {
    const wrong = command.flatMap(({ path, imports }) =>
      imports
        .filter((target) => !/^(?:cli|src\/lib|src\/protocol)\/|^package\.json$/.test(target))
        .map((target) => `${path} -> ${target}`),
    );
    expect(command.length).toBeGreaterThan(10);
    expect(wrong).toEqual([]);
    const back = [...sources, ...shells].filter(({ imports }) =>
      imports.some((target) => target.startsWith("cli/")),
    );
    expect(back.map(({ path }) => path)).toEqual([]);
  });

  test("the Durable Objects are imported in the composition root only", ({ expect }) => {
    const wrong = sources
      .filter(({ path }) => path !== "src/index.ts" && path !== "src/env.d.ts")
      .filter(({ imports }) => imports.some((target) => target.startsWith("durable-objects/")));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test("the Durable Objects do not import the routes", ({ expect }) => {
    const wrong = shells.filter(({ imports }) => imports.includes("src/app.ts"));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });
});

describe("for purity,", () => {
  test.for(PURE)("%s does no I/O and reads no clock", (folder, { expect }) => {
    const wrong = sources
      .filter(({ path }) => path.startsWith(`src/${folder}/`))
      .flatMap(({ path, text }) =>
        IMPURE.filter((pattern) => pattern.test(text)).map((pattern) => `${path}: ${pattern}`),
      );
    expect(wrong).toEqual([]);
  });

  test("Env is read only in the files that may read it", ({ expect }) => {
    const readers = [...sources, ...shells].filter(({ text }) => /\bEnv\b/.test(text));
    expect(readers.map(({ path }) => path).toSorted()).toEqual([
      "durable-objects/activities.ts",
      "durable-objects/activity-object.ts",
      "durable-objects/added-servers.ts",
      "durable-objects/auth-shard-object.ts",
      "durable-objects/auth-store-stub.ts",
      "durable-objects/authorization-server.ts",
      "durable-objects/bridge-object.ts",
      "durable-objects/bridges.ts",
      "durable-objects/call-sinks.ts",
      "durable-objects/connector-object.ts",
      "durable-objects/connectors.ts",
      "durable-objects/fan-out-object.ts",
      "durable-objects/fan-out.ts",
      "durable-objects/feed-object.ts",
      "durable-objects/feed-server.ts",
      "durable-objects/followed-config.ts",
      "durable-objects/gateway-servers.ts",
      "durable-objects/held-accounts.ts",
      "durable-objects/identity.ts",
      "durable-objects/keys.ts",
      "durable-objects/live-config.ts",
      "durable-objects/ports.ts",
      "durable-objects/registry-object.ts",
      "durable-objects/session-host.ts",
      "durable-objects/session-object.ts",
      "durable-objects/session-publishing.ts",
      "durable-objects/session-wiring.ts",
      "durable-objects/vault-object.ts",
      "durable-objects/vault-wiring.ts",
      "durable-objects/vaults.ts",
      "src/app.ts",
      "src/config/config.ts",
      "src/env.d.ts",
      "src/index.ts",
      "src/request-context.ts",
    ]);
  });
});
