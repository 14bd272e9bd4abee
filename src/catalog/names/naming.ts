/**
 * What tools and prompts are called at an endpoint, and whose a name is. A name is told from the
 * configuration and itself alone, so that it outlives restarts and needs no list to be understood.
 * The price: a name that cannot be given out as it is becomes one that a list has to be asked for.
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
  /** The name alone says whose it is and what it is called there. */
  | { readonly kind: "plain"; readonly server: Server; readonly name: string }
  /** The name was shortened: the catalog of the server has the whole one. */
  | { readonly kind: "short"; readonly server: Server }
  | { readonly kind: "nobody" };

/** What the API of every model takes; some take nothing else at the beginning. */
const FITS_MODELS = /^[A-Za-z_][A-Za-z0-9_-]*$/;
/** Nothing that is longer is looked at. */
const MAX_ASKED_CHARS = 1024;
const HASHES = 2n ** 64n;
const NOBODY: LocatedName = { kind: "nobody" };

/** What is known of one server here. */
interface Part {
  readonly server: Server;
  readonly prefix: string;
  /** The server in the tail of a short name. */
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

  /** @param hash up to 64 bits. The same for all time. */
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
   * What the things of one list are called here, by the server's own names. No two are called the
   * same, and what a thing is called does not depend on the order of the list.
   *
   * @param names all of the server's list, also what may not be seen: when two hashes are the same,
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
      // Slugs and kinds have no space in them, so no two are written alike. What follows the name
      // spreads its last letters over the whole hash.
      const hash = hashes.take(this.#hash(`${name} ${kind} ${server.slug}`));
      const readable = `${part.prefix}${part.renames[kind].callingOf(name) ?? name}`;
      publicNames.set(name, shortName(readable, part.tag, hash, this.#maxChars));
    }
    return publicNames;
  }

  /**
   * Looks at no list. A prefix says whose a name is, also where the name is too long to be given out:
   * whoever knows it may use it. Else, what was never given out is nobody's, or is found in no list.
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

  /** @returns `undefined` when `locate` would not find the thing by such a name. */
  #plainName(part: Part, kind: NamedKind, name: string): string | undefined {
    const calling = part.renames[kind].callingOf(name);
    if (calling === undefined) return undefined;
    const plain = `${part.prefix}${calling}`;
    if (!this.#canBeGivenOut(plain) || this.#ownerOf(plain) !== part) return undefined;
    return tagIn(plain) !== undefined && this.#hasShortNames(kind) ? undefined : plain;
  }

  /** A server alone keeps its names, whatever is in them. */
  #canBeGivenOut(name: string): boolean {
    return !this.#isMerged || (name.length <= this.#maxChars && FITS_MODELS.test(name));
  }

  #canBeAskedFor(name: string): boolean {
    return !this.#isMerged || (name.length <= MAX_ASKED_CHARS && FITS_MODELS.test(name));
  }

  /** A server alone has them only for what lost its name to another thing. */
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

  /** @throws Error when the server is none of the endpoint's: a bug of the caller. */
  #partOf(server: Server): Part {
    const part = this.#parts.get(server.slug);
    if (part === undefined) throw new Error(`no server of this endpoint: ${server.slug}`);
    return part;
  }
}

/** By UTF-16 code units, which no locale and no version of Unicode changes. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const made = new WeakMap<Endpoint, Naming>();

/** @param maxChars the longest name that is given out; the same for the life of an isolate. */
export function namingOf(endpoint: Endpoint, maxChars: number): Naming {
  let naming = made.get(endpoint);
  if (naming === undefined) made.set(endpoint, (naming = new Naming(endpoint, maxChars)));
  return naming;
}
