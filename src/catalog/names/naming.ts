/**
 * The public names of tools and prompts at an endpoint, and the server of each name. The name and
 * the configuration alone determine the server, so names outlive restarts and need no list. The
 * price: a name that cannot be published unchanged is shortened and then needs a list.
 */

import { DistinctNumbers } from "../../lib/distinct-numbers.ts";
import { fnv1a64 } from "../../lib/fnv1a.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Server } from "../../endpoint/server.ts";
import { Prefixes } from "./prefixes.ts";
import { Renames } from "./renames.ts";
import { shortName, spellTag, TAGS, tagIn } from "./short-name.ts";

export type NamedKind = "tools" | "prompts";

export type LocatedName =
  /** The name alone determines the server and the server's own name. */
  | { readonly kind: "plain"; readonly server: Server; readonly name: string }
  /** The name was shortened: the catalog of the server has the full name. */
  | { readonly kind: "short"; readonly server: Server }
  | { readonly kind: "nobody" };

/** The names that the API of every model accepts; some restrict the first character. */
const FITS_MODELS = /^[A-Za-z_][A-Za-z0-9_-]*$/;
/** Longer names are unknown. */
const MAX_ASKED_CHARS = 1024;
const HASHES = 2n ** 64n;
const NOBODY: LocatedName = { kind: "nobody" };

/** The naming of one server. */
interface Part {
  readonly server: Server;
  readonly prefix: string;
  /** Identifies the server in the tail of a short name. */
  readonly tag: string;
  readonly renames: Readonly<Record<NamedKind, Renames>>;
}

export class Naming {
  readonly #isMerged: boolean;
  readonly #maxChars: number;
  readonly #hash: (text: string) => bigint;
  /** By slug. */
  readonly #parts = new Map<string, Part>();
  /** By tag. */
  readonly #tagged = new Map<string, Part>();
  readonly #prefixes: Prefixes | undefined;

  /** @param hash up to 64 bits. It must never change. */
  constructor(endpoint: Endpoint, maxChars: number, hash: (text: string) => bigint = fnv1a64) {
    const { servers, isMerged, keepsNames } = endpoint;
    this.#isMerged = isMerged;
    this.#maxChars = maxChars;
    this.#hash = hash;
    this.#prefixes = isMerged ? new Prefixes(servers) : undefined;
    const tags = new DistinctNumbers(TAGS);
    for (const server of servers.toSorted((a, b) => compare(a.slug, b.slug))) {
      const tag = spellTag(tags.take(hash(server.slug)));
      const { tools, prompts } = server;
      const part: Part = {
        server,
        prefix: isMerged ? server.prefix : "",
        tag,
        renames: {
          tools: new Renames(keepsNames ? new Map() : tools.rename),
          prompts: new Renames(keepsNames ? new Map() : prompts.rename),
        },
      };
      this.#parts.set(server.slug, part);
      this.#tagged.set(tag, part);
    }
  }

  /**
   * The public names of the items of one list, by the server's own names. They are unique and do
   * not depend on the order of the list.
   *
   * @param names all names of the server's list, including hidden ones: when two hashes are equal,
   *   one of them gives way.
   */
  publicNames(
    server: Server,
    kind: NamedKind,
    names: readonly string[],
  ): ReadonlyMap<string, string> {
    const part = this.#partOf(server);
    const publicNames = new Map<string, string>();
    const others: string[] = [];
    for (const name of new Set(names)) {
      const plain = this.#plainName(part, kind, name);
      if (plain === undefined) others.push(name);
      else publicNames.set(name, plain);
    }
    const hashes = new DistinctNumbers(HASHES);
    for (const name of others.toSorted(compare)) {
      // Slugs and kinds contain no space, so no two texts are equal. The text after the name
      // spreads its last letters over the whole hash.
      const hash = hashes.take(this.#hash(`${name} ${kind} ${server.slug}`));
      const readable = `${part.prefix}${part.renames[kind].callingOf(name) ?? name}`;
      publicNames.set(name, shortName(readable, part.tag, hash, this.#maxChars));
    }
    return publicNames;
  }

  /**
   * Reads no list. A prefix determines the server, even of a name that is too long to be published:
   * a client that knows it may use it. Other unpublished names have no server, or are in no list.
   */
  locate(kind: NamedKind, publicName: string): LocatedName {
    if (!this.#canBeAskedFor(publicName)) return NOBODY;
    const tag = tagIn(publicName);
    if (tag !== undefined && this.#hasShortNames(kind)) {
      const part = this.#tagged.get(tag);
      return part === undefined ? NOBODY : { kind: "short", server: part.server };
    }
    const part = this.#ownerOf(publicName);
    const name = part?.renames[kind].ownNameOf(publicName.slice(part.prefix.length));
    if (part === undefined || name === undefined) return NOBODY;
    return { kind: "plain", server: part.server, name };
  }

  /** @returns `undefined` when `locate` would not find the item by such a name. */
  #plainName(part: Part, kind: NamedKind, name: string): string | undefined {
    const calling = part.renames[kind].callingOf(name);
    if (calling === undefined) return undefined;
    const plain = `${part.prefix}${calling}`;
    if (!this.#canBeGivenOut(plain) || this.#ownerOf(plain) !== part) return undefined;
    return tagIn(plain) !== undefined && this.#hasShortNames(kind) ? undefined : plain;
  }

  /** The only server of an endpoint keeps its names, whatever they contain. */
  #canBeGivenOut(name: string): boolean {
    return !this.#isMerged || (name.length <= this.#maxChars && FITS_MODELS.test(name));
  }

  #canBeAskedFor(name: string): boolean {
    return !this.#isMerged || (name.length <= MAX_ASKED_CHARS && FITS_MODELS.test(name));
  }

  /** An only server has short names just for items that lost their name to another item. */
  #hasShortNames(kind: NamedKind): boolean {
    return (
      this.#isMerged || [...this.#parts.values()].some(({ renames }) => renames[kind].mayClash)
    );
  }

  #ownerOf(name: string): Part | undefined {
    if (this.#prefixes === undefined) return this.#parts.values().next().value;
    const server = this.#prefixes.ownerOf(name);
    return server && this.#parts.get(server.slug);
  }

  /** @throws Error when the server is not of this endpoint: a bug of the caller. */
  #partOf(server: Server): Part {
    const part = this.#parts.get(server.slug);
    if (part === undefined) throw new Error(`no server of this endpoint: ${server.slug}`);
    return part;
  }
}

/** Compares UTF-16 code units, which do not depend on the locale or the version of Unicode. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const made = new WeakMap<Endpoint, Naming>();

/** @param maxChars the length of the longest published name; constant in an isolate. */
export function namingOf(endpoint: Endpoint, maxChars: number): Naming {
  let naming = made.get(endpoint);
  if (naming === undefined) made.set(endpoint, (naming = new Naming(endpoint, maxChars)));
  return naming;
}
