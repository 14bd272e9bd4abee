/**
 * What `@cloudflare/workers-oauth-provider` asks of its storage, as its source has it. The adapter
 * serves this and nothing else, so a version that asks for more has to be looked at first.
 */

import { readFileSync } from "node:fs";
import { describe, test } from "vitest";

import { ROOT } from "../support/process.ts";

const PACKAGE = `${ROOT}node_modules/@cloudflare/workers-oauth-provider`;
const source = readFileSync(`${PACKAGE}/dist/oauth-provider.js`, "utf8");

/** The calls of the storage, without what differs from one to the next. */
function callsOf(method: string): ReadonlySet<string> {
  const calls = source.matchAll(new RegExp(`(?:OAUTH_KV|\\bkv)\\.${method}\\((.*)`, "g"));
  return new Set([...calls].map(([, rest = ""]) => optionsIn(rest)));
}

/** The names of the options, in the order in which they are given. */
function optionsIn(rest: string): string {
  const [, options = ""] = /\{ ([^{}$]*) \}\)[^}]*$/.exec(rest) ?? [];
  return [...options.matchAll(/(\w+):/g)].map(([, name]) => name).join(" ");
}

describe("the OAuth library", () => {
  test("is the version whose use of storage was reviewed", ({ expect }) => {
    const { version } = JSON.parse(readFileSync(`${PACKAGE}/package.json`, "utf8")) as {
      version: string;
    };
    expect(version).toBe("1.2.3");
  });

  test("calls four methods of its storage", ({ expect }) => {
    const methods = source.matchAll(/(?:OAUTH_KV|\bkv)\.(\w+)\(/g);
    expect(new Set([...methods].map(([, name]) => name))).toEqual(
      new Set(["get", "put", "delete", "list"]),
    );
  });

  test("calls them with these options", ({ expect }) => {
    // Without a type it reads marks of assertions, transactions of its own consent page, and what
    // it purges: none of which is in use here.
    expect(callsOf("get")).toEqual(new Set(["type", ""]));
    expect(callsOf("put")).toEqual(new Set(["expirationTtl", ""]));
    expect(callsOf("delete")).toEqual(new Set([""]));
    expect(callsOf("list")).toEqual(new Set([""]));
  });

  test("lets a code expire after ten minutes, which the adapter shortens", ({ expect }) => {
    const pending = "grantPutOptions(grant, { expirationTtl: 600 })";
    expect(source.split(pending)).toHaveLength(2);
  });
});
