/** The map of servers that a client has: found in its wrapper, and its names made into slugs. */

import { cleanText } from "../../lib/clean-text.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { forbidsTools, isLeftOut } from "./client-settings.ts";
import { SPELLINGS, WRAPPERS } from "./spellings.ts";

export interface NamedEntry {
  /** As the client has it. */
  readonly name: string;
  /** `undefined` where none can be made of the name. */
  readonly slug: string | undefined;
  readonly entry: unknown;
  /** The client does not use it. */
  readonly isLeftOut: boolean;
  /** What is wrong with its name or place; a part of a sentence. */
  readonly mistake: string | undefined;
}

const SLUG = /^[a-z0-9-]{1,24}$/;
export const MAX_SLUG = 24;
const MAX_NAME = 60;
/** An endpoint has this name. */
export const RESERVED = "message";

/** @param table a map, or the file of a client that has the map in it. */
export function entriesOf(table: JsonObject): readonly NamedEntry[] {
  const found = unwrapped(table);
  const owners = ownersOf(found);
  // Without a wrapper, all that stands in the table is servers.
  const settings = wrappersIn(table).length === 0 ? {} : table;
  return found.map((each, n) => {
    const [name, entry] = each;
    const slug = slugFrom(name);
    const owner = slug === undefined ? undefined : owners.get(slug);
    const other = owner === n ? undefined : found[owner ?? n]?.[0];
    return {
      name: cleanText(name, MAX_NAME),
      slug: slug === RESERVED ? undefined : slug,
      entry,
      isLeftOut: isLeftOut(settings, name),
      mistake: misplaced(each, settings) ?? misnamed(slug, other),
    };
  });
}

function misplaced([name, , wrapper]: Found, settings: JsonObject): string | undefined {
  if (wrapper !== undefined) return `stands beside "${wrapper}"; move it into that map`;
  if (!forbidsTools(settings, name)) return undefined;
  return 'there is a "tools" beside the map that forbids tools; list those in "tools.deny" of this server';
}

/** @param other the name of the entry that has the slug. */
function misnamed(slug: string | undefined, other: string | undefined): string | undefined {
  if (slug === undefined) {
    return 'a slug has 1 to 24 characters of a-z, 0-9 and "-", and none can be made of this name';
  }
  if (slug === RESERVED) return `"${slug}" cannot be a slug, since /sse/message is an endpoint`;
  if (other === undefined) return undefined;
  return `its name makes the same slug as "${cleanText(other, MAX_NAME)}"; rename one of them`;
}

type Found = readonly [name: string, entry: unknown, besideWrapper?: string];

function unwrapped(table: JsonObject): readonly Found[] {
  const wrappers = wrappersIn(table);
  const [first] = wrappers;
  if (first === undefined) return Object.entries(table);
  const inside = wrappers.flatMap((name) => unwrapped(table[name] as JsonObject));
  // A client's other settings stand beside the map; what looks like a server was probably meant as one.
  const beside = Object.entries(table).filter(
    ([name, value]) => !wrappers.includes(name) && isEntry(value),
  );
  return [...inside, ...beside.map(([name, entry]): Found => [name, entry, first])];
}

function wrappersIn(table: JsonObject): readonly string[] {
  return Object.keys(WRAPPERS).filter((name) => isMap(name, table[name]));
}

/** A server may be named like a wrapper, too. */
function isMap(name: string, value: unknown): boolean {
  if (!isObject(value) || isEntry(value)) return false;
  return name !== "mcp" || Object.values(value).length === 0 || Object.values(value).some(isObject);
}

function isEntry(value: unknown): boolean {
  if (!isObject(value)) return false;
  return Object.entries(value).some(([key, member]) => {
    if (key === "url" || key === "service" || SPELLINGS[key] === "url") return !isObject(member);
    return key === "command" && !isEntry(member);
  });
}

/**
 * Whose each slug is: that of the entry which is named exactly so, else of the first one. Accounts and tokens
 * are kept by slug, so a new entry that is named alike must not get those of an older one.
 */
function ownersOf(found: readonly Found[]): ReadonlyMap<string, number> {
  const owners = new Map<string, number>();
  for (const isExact of [true, false]) {
    for (const [n, [name]] of found.entries()) {
      const slug = slugFrom(name);
      if (slug === undefined || owners.has(slug)) continue;
      if (!isExact || slug === name) owners.set(slug, n);
    }
  }
  return owners;
}

/** @returns `undefined` where none can be made of the name. */
export function slugFrom(name: string): string | undefined {
  if (SLUG.test(name)) return name;
  const words = name.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  const slug = words
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "")
    .slice(0, MAX_SLUG)
    .replace(/-$/, "");
  return slug === "" ? undefined : slug;
}
