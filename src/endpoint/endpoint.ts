/** An endpoint and its servers. */

import type { EntryNotice } from "../observability/health.ts";
import type { Server } from "./server.ts";

/** Who listens is told when the servers that operators have added are of a newer version. */
interface Versioned {
  /** Of the store of added servers. */
  readonly version?: number | undefined;
  /** From when on every isolate serves this version, in milliseconds since 1970. */
  readonly settledAt?: number | undefined;
  /** Nobody could be asked yet what operators have added: there may be more servers than are known. */
  readonly isPartial?: true;
}

/** For the person at a client whose request may be for one of those. */
export const SERVERS_UNKNOWN =
  "It is not known right now which servers were added; try again later.";

export interface Endpoint extends Versioned {
  /** In the operator's order, which decides every tie. At least one. */
  readonly servers: readonly [Server, ...Server[]];
  /** Several servers meet here: names have prefixes, lists are merged. */
  readonly isMerged: boolean;
  /** `/mcp/<slug>`: names are the server's own, whatever is configured. */
  readonly keepsNames: boolean;
  /** The server that has no prefix here, whatever is configured. */
  readonly plain?: string | undefined;
  /** What administrators read about entries that are not served as written; nothing at `/mcp/<slug>`. */
  readonly notices?: readonly EntryNotice[];
}

/** What the configuration says about servers. */
export interface Configured {
  readonly servers: ReadonlyMap<string, Server>;
  readonly notices: readonly EntryNotice[];
  /** Absent where nobody has asked yet what operators have added. */
  readonly added?: AddedPart;
}

/** What comes of the servers that operators have added. */
interface AddedPart extends Versioned {
  readonly version: number;
  /** There are any, if only paused ones. */
  readonly isAny: boolean;
  /**
   * The server that is alone in `MCP_SERVERS`: it keeps its own names beside those that were added, so that adding
   * one renames nothing.
   */
  readonly plain: string | undefined;
}

export type Picked =
  | { readonly kind: "endpoint"; readonly endpoint: Endpoint }
  /** The path names a server that is not configured. */
  | { readonly kind: "unknown" }
  /** With a sentence for the operator. */
  | ({ readonly kind: "unserved"; readonly sentence: string } & Versioned);

/** Endpoints are made once, so that derived values can be cached by endpoint. */
const made = new WeakMap<Configured, Map<string | undefined, Picked>>();

/** @param slug from `/mcp/<slug>`; `undefined` for the endpoint of the whole gateway. */
export function pickEndpoint(configured: Configured, slug: string | undefined): Picked {
  const known = made.get(configured) ?? new Map<string | undefined, Picked>();
  made.set(configured, known);
  let picked = known.get(slug);
  if (picked === undefined) {
    picked = pick(configured, slug);
    // Clients choose slugs, so unknown ones are not cached.
    if (picked.kind !== "unknown") known.set(slug, picked);
  }
  return picked;
}

function pick(configured: Configured, slug: string | undefined): Picked {
  return slug === undefined ? pickAll(configured) : pickOne(configured, slug);
}

function pickOne({ servers, notices, added }: Configured, slug: string): Picked {
  const server = servers.get(slug);
  if (server !== undefined) {
    const { version, settledAt } = versionOf(added);
    const endpoint = { isMerged: false, keepsNames: true, version, settledAt };
    return { kind: "endpoint", endpoint: { servers: [server], ...endpoint } };
  }
  const state = notices.filter(isServable).find((notice) => notice.slug === slug)?.state;
  if (state === undefined) return { kind: "unknown" };
  const why = state === "off" ? "is switched off" : "has a mistake in its configuration";
  return { kind: "unserved", sentence: `The upstream "${slug}" ${why}, so it is not served.` };
}

function pickAll(configured: Configured): Picked {
  const { servers, notices, added } = configured;
  const [first, ...others] = servers.values();
  if (first === undefined) {
    const sentence =
      notices.length === 0
        ? 'No upstream is configured. Set MCP_SERVERS, for example to {"docs":{"url":"https://…/mcp"}}.'
        : "None of the servers is served. The log of the gateway says why.";
    return { kind: "unserved", sentence, ...versionOf(added) };
  }
  const endpoint: Endpoint = {
    servers: [first, ...others],
    isMerged: added?.isAny === true || slugsOf(configured).length > 1,
    keepsNames: false,
    plain: added?.plain,
    ...versionOf(added),
    notices,
  };
  return { kind: "endpoint", endpoint };
}

/** Where nobody has answered yet, the servers are those of before the first change: who listens is told of that. */
function versionOf(added: AddedPart | undefined): Versioned {
  if (added === undefined) return { version: 0, isPartial: true };
  const { version, settledAt } = added;
  return { version, settledAt };
}

/** An entry that is served again when it is mended or switched on. */
function isServable({ state }: EntryNotice): boolean {
  return state === "misconfigured" || state === "off";
}

/**
 * The slugs of all entries that are served, or are again some day: those count for whether several servers
 * meet, and tokens for them stay good. So a missing secret of one server renames nothing at the others, and
 * signs nobody out.
 */
export function slugsOf({ servers, notices }: Configured): readonly string[] {
  const waiting = notices.filter(isServable).flatMap(({ slug }) => slug ?? []);
  return [...new Set([...servers.keys(), ...waiting])];
}

/**
 * True while a mistake, or its switch, keeps a server off, and while nobody could be asked what operators have
 * added: what is stored of it stays for when it is back.
 */
export function isOff(configured: Configured, slug: string): boolean {
  if (configured.servers.has(slug)) return false;
  return configured.added === undefined || slugsOf(configured).includes(slug);
}

/**
 * True where the gateway lists and introduces the servers itself, from what it knows of them: where
 * several meet, where the caller may have no account at the only one, and where that may be offline.
 */
export function isIntroducedHere({ isMerged, servers: [only] }: Endpoint): boolean {
  const { credentials, publisher } = only.target;
  return isMerged || credentials !== undefined || publisher !== undefined;
}

export function serverOf({ servers }: Endpoint, slug: string): Server | undefined {
  return servers.find((server) => server.slug === slug);
}
