/**
 * The public names of tools and prompts at an endpoint, and the server of each name. The name and
 * the configuration alone determine the server, so names outlive restarts and need no list. The
 * price: a name that cannot be published unchanged is shortened and then needs a list.
 */

import { DistinctNumbers } from "../../lib/distinct-numbers.ts";
import { fnv1a64 } from "../../lib/fnv1a.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Server } from "../../endpoint/server.ts";
import { shortName, spellTag, TAGS, tagIn } from "./short-name.ts";

export type NamedKind = "tools" | "prompts";

export type LocatedName =
  /** The name alone determines the server and the server's own name. */
  | { readonly kind: "plain"; readonly server: Server; readonly name: string }
  /** The name was shortened: the catalog of the server has the full name. */
  | { readonly kind: "short"; readonly server: Server }
  | { readonly kind: "unknown" };

/** The names that the API of every model accepts; some restrict the first character. */
const FITS_MODELS = /^[A-Za-z_][A-Za-z0-9_-]*$/;
/** Longer names are unknown. */
const MAX_ASKED_CHARS = 1024;
const HASHES = 2n ** 64n;
const UNKNOWN: LocatedName = { kind: "unknown" };

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
  readonly #byPrefix: ReadonlyMap<string, Part>;
  /** The longest first: a prefix may begin with another. */
  readonly #prefixLengths: readonly number[];
  /** One server may keep its names, whatever they contain. */
  readonly #unrenamed: Part | undefined;

  /** @param hash up to 64 bits. It must never change. */
  constructor(endpoint: Endpoint, maxChars: number, hash: (text: string) => bigint = fnv1a64) {
    const { servers, isMerged, keepsNames, plain } = endpoint;
    this.#isMerged = isMerged;
    this.#maxChars = maxChars;
    this.#hash = hash;
    const tags = new DistinctNumbers(TAGS);
    for (const server of servers.toSorted((a, b) => compare(a.slug, b.slug))) {
      const tag = spellTag(tags.take(hash(server.slug)));
      const { tools, prompts } = server;
      const part: Part = {
        server,
        prefix: isMerged && server.slug !== plain ? server.prefix : "",
        tag,
        renames: {
          tools: new Renames(keepsNames ? new Map() : tools.rename),
          prompts: new Renames(keepsNames ? new Map() : prompts.rename),
        },
      };
      this.#parts.set(server.slug, part);
      this.#tagged.set(tag, part);
    }
    // No two servers have the same prefix: such a configuration is refused.
    this.#byPrefix = new Map([...this.#parts.values()].map((part) => [part.prefix, part]));
    this.#unrenamed = [...this.#parts.values()].find(
      ({ server }) => server.keepsNames === true || server.slug === plain,
    );
    const lengths = new Set([...this.#byPrefix.keys()].map(({ length }) => length));
    this.#prefixLengths = [...lengths].toSorted((a, b) => b - a);
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
      const readable = `${part.prefix}${part.renames[kind].renamed(name) ?? name}`;
      publicNames.set(name, shortName(readable, part.tag, hash, this.#maxChars));
    }
    return publicNames;
  }

  /**
   * Reads no list. A prefix determines the server, even of a name that is too long to be published:
   * a client that knows it may use it. Other unpublished names have no server, or are in no list.
   */
  locate(kind: NamedKind, publicName: string): LocatedName {
    if (!this.#canBeAskedFor(publicName)) return UNKNOWN;
    const tag = tagIn(publicName);
    if (tag !== undefined && this.#hasShortNames(kind)) {
      const part = this.#tagged.get(tag);
      return part === undefined ? UNKNOWN : { kind: "short", server: part.server };
    }
    const part = this.#ownerOf(publicName);
    const name = part?.renames[kind].ownName(publicName.slice(part.prefix.length));
    if (part === undefined || name === undefined) return UNKNOWN;
    return { kind: "plain", server: part.server, name };
  }

  /** @returns what the server has before its names here; empty where it keeps them. */
  prefixOf(server: Server): string {
    return this.#partOf(server).prefix;
  }

  /** @returns `undefined` when `locate` would not find the item by such a name. */
  #plainName(part: Part, kind: NamedKind, name: string): string | undefined {
    const renamed = part.renames[kind].renamed(name);
    if (renamed === undefined) return undefined;
    const plain = `${part.prefix}${renamed}`;
    if (!this.#canBeGivenOut(part, plain) || this.#ownerOf(plain) !== part) return undefined;
    return tagIn(plain) !== undefined && this.#hasShortNames(kind) ? undefined : plain;
  }

  /** A server that is, or was, the only one of an endpoint keeps its names, whatever they contain. */
  #canBeGivenOut(part: Part, name: string): boolean {
    if (!this.#isMerged || part === this.#unrenamed) return true;
    return name.length <= this.#maxChars && FITS_MODELS.test(name);
  }

  #canBeAskedFor(name: string): boolean {
    if (!this.#isMerged || this.#unrenamed !== undefined) return true;
    return name.length <= MAX_ASKED_CHARS && FITS_MODELS.test(name);
  }

  /** An only server has short names just for items that lost their name to another item. */
  #hasShortNames(kind: NamedKind): boolean {
    return (
      this.#isMerged || [...this.#parts.values()].some(({ renames }) => renames[kind].mayClash)
    );
  }

  /** Takes one look-up for each length of a prefix, however many servers there are. */
  #ownerOf(name: string): Part | undefined {
    for (const length of this.#prefixLengths) {
      const part = this.#byPrefix.get(name.slice(0, length));
      if (part !== undefined) return part;
    }
    return undefined;
  }

  /** @throws Error when the server is not of this endpoint: a bug of the caller. */
  #partOf(server: Server): Part {
    const part = this.#parts.get(server.slug);
    if (part === undefined) throw new Error(`no server of this endpoint: ${server.slug}`);
    return part;
  }
}

/** The names of one list of a server, as the operator changed them. */
class Renames {
  readonly #publicNames: ReadonlyMap<string, string>;
  readonly #ownNames: ReadonlyMap<string, string>;
  /** An operator's name may equal a name that the server uses for another item. */
  readonly mayClash: boolean;

  /** @param renames the server's own name → the operator's name. The latter are unique. */
  constructor(renames: ReadonlyMap<string, string>) {
    this.#publicNames = renames;
    this.#ownNames = new Map([...renames].map(([own, renamed]) => [renamed, own]));
    this.mayClash = [...renames.values()].some((renamed) => !renames.has(renamed));
  }

  /** @returns `undefined` when the operator has given the name to another item. */
  renamed(own: string): string | undefined {
    return this.#publicNames.get(own) ?? (this.#ownNames.has(own) ? undefined : own);
  }

  /** @returns `undefined` when the item with this name was renamed. */
  ownName(renamed: string): string | undefined {
    return this.#ownNames.get(renamed) ?? (this.#publicNames.has(renamed) ? undefined : renamed);
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
