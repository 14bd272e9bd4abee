/** The operator's settings for a server's tools, prompts and resources: globs and other names. */

import * as z from "zod/mini";

import { table } from "./config-table.ts";
import { lazy } from "../lib/lazy.ts";
import { Glob } from "../policy/glob.ts";
import type { ItemPolicy } from "../policy/item-policy.ts";

const MAX_ENTRIES = 1000;
const MAX_CHARS = 256;
/** The names that every model API accepts, whatever name the server uses. */
const CALLING = /^[A-Za-z0-9_-]{1,64}$/;

const globs = lazy(() => {
  const glob = z
    .string({ error: "must be a string" })
    .check(
      z.minLength(1, { error: "must not be empty" }),
      z.maxLength(MAX_CHARS, { error: `must have at most ${MAX_CHARS} characters` }),
    );
  return z
    .array(glob, { error: 'must be a list of globs, like ["get_*"]' })
    .check(z.maxLength(MAX_ENTRIES, { error: `must have at most ${MAX_ENTRIES} entries` }));
});

const renames = lazy(() => {
  const calling = z
    .string({ error: "must be a string" })
    .check(z.regex(CALLING, { error: 'has 1 to 64 characters of A-Z, a-z, 0-9, "_" and "-"' }));
  return z
    .record(z.string(), calling, { error: "must be a table of the server's names and yours" })
    .check(
      z.refine((entries) => Object.keys(entries).length <= MAX_ENTRIES, {
        error: `must have at most ${MAX_ENTRIES} entries`,
      }),
      z.refine((entries) => Object.keys(entries).every(({ length }) => length <= MAX_CHARS), {
        error: `must have names of at most ${MAX_CHARS} characters`,
      }),
    );
});

const lists = lazy(() => ({ allow: z.optional(globs()), deny: z.optional(globs()) }));

/** The settings of tools and prompts. */
export const namedItemsSchema = lazy(() => table({ ...lists(), rename: z.optional(renames()) }));

export const resourcesSchema = lazy(() =>
  table({
    ...lists(),
    rename: z.optional(z.never({ error: "cannot be: resources are known by their URIs" })),
  }),
);

type ItemsEntry = z.infer<ReturnType<typeof namedItemsSchema | typeof resourcesSchema>>;

/** @param key the name in sentences, like `MCP_SERVERS.a.tools`. */
export function resolveItems(
  key: string,
  { allow, deny = [], rename = {} }: ItemsEntry = {},
  problems: string[],
): ItemPolicy {
  const callings = new Map(Object.entries(rename));
  const owners = new Map<string, string>();
  for (const [name, calling] of callings) {
    const owner = owners.get(calling);
    if (owner === undefined) {
      owners.set(calling, name);
      continue;
    }
    const names = `${JSON.stringify(owner)} and ${JSON.stringify(name)}`;
    problems.push(`${key}.rename: ${names} cannot both be called "${calling}".`);
  }
  return {
    allow: allow?.map((pattern) => new Glob(pattern)),
    deny: deny.map((pattern) => new Glob(pattern)),
    rename: callings,
  };
}
