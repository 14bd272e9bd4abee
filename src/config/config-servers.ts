/**
 * `MCP_SERVERS`: each entry becomes a server, or a notice that says why it does not. A mistake in an entry is that
 * entry's own: the others are served. An entry whose meaning is in doubt is off.
 */

import { parseEditorJson } from "../lib/editor-json.ts";
import { addressBehind, readEntry } from "./clients/client-entry.ts";
import { entriesOf, type NamedEntry } from "./clients/client-map.ts";
import { missingSecrets } from "./clients/placeholders.ts";
import { SPELLINGS } from "./clients/spellings.ts";
import { resolveServer, type ServerResolution, serverSchema } from "./config-server.ts";
import { isUnset, mistakesIn, NOT_JSON, quoted } from "./config-table.ts";
import type { Configured } from "../endpoint/endpoint.ts";
import { defaultPrefix, type Server } from "../endpoint/server.ts";
import { closest } from "../lib/closest.ts";
import type { EntryNotice } from "../observability/health.ts";
import { isObject, type JsonObject } from "../protocol/json-rpc.ts";
import { PUBLISHED_PREFIX } from "../protocol/publishing.ts";

const KEY = "MCP_SERVERS";
/** The demo upstream is bound in development only; a deployed Worker does not have the name. */
const DEMO_BINDING = "DEMO";
const MISSPELLED = /^mcp[-_]?servers?$/i;

export interface ConfiguredServers extends Configured {
  /** The slug of the entry that each prefix belongs to, also where a mistake keeps that one off. */
  readonly prefixes: ReadonlyMap<string, string>;
}

/** @param resolution its `problems` receive only what concerns the gateway as a whole. */
export function parseServers(resolution: ServerResolution): ConfiguredServers {
  const { env, problems } = resolution;
  for (const name of Object.keys(env)) {
    if (name === KEY || !MISSPELLED.test(name)) continue;
    problems.push(`${name} means nothing here; the servers are in ${KEY}.`);
  }
  const value = env[KEY];
  const table = isUnset(value) ? {} : typeof value === "string" ? parseEditorJson(value) : value;
  if (table === undefined) problems.push(`${KEY} ${NOT_JSON}.`);
  else if (!isObject(table))
    problems.push(`${KEY} must be a table of servers, each under its slug.`);
  if (!isObject(table)) return { servers: new Map(), notices: [], prefixes: new Map() };
  const entries = entriesOf(table);
  return entries.length === 0 ? demo(resolution) : parseEntries(entries, resolution);
}

function demo(resolution: ServerResolution): ConfiguredServers {
  const isBound = resolution.env[DEMO_BINDING] !== undefined;
  const server = isBound ? resolveServer("demo", { service: DEMO_BINDING }, resolution) : undefined;
  const servers = new Map(server && [["demo", server]]);
  return { servers, notices: [], prefixes: new Map(server && [[server.prefix, "demo"]]) };
}

function parseEntries(
  entries: readonly NamedEntry[],
  resolution: ServerResolution,
): ConfiguredServers {
  const servers = new Map<string, Server>();
  const notices: EntryNotice[] = [];
  const prefixes = new Map<string, string>();
  for (const named of entries) {
    const { server, ...said } = parseEntry(named, prefixes, resolution);
    const { name, slug } = named;
    if (server !== undefined) servers.set(server.slug, server);
    if (said.sentences.length === 0) continue;
    const missing =
      said.state === "misconfigured" ? missingSecrets(named.entry, resolution.env) : [];
    notices.push({
      ...{ name, ...(slug !== undefined && { slug }), ...said },
      ...(missing.length > 0 && { missingSecrets: missing }),
    });
  }
  return { servers, notices, prefixes };
}

/** A server, or why there is none; both for one that has keys which nobody knows. */
interface ParsedEntry extends Pick<EntryNotice, "state" | "sentences"> {
  readonly server?: Server | undefined;
}

/** @param prefixes whose each prefix is: with several servers, a prefix shows which one a name belongs to. */
function parseEntry(
  named: NamedEntry,
  prefixes: Map<string, string>,
  resolution: ServerResolution,
): ParsedEntry {
  const read = readNamed(named, resolution.place);
  if (read.kind === "refused") return read;
  const { slug, entry, sentences } = read;
  const problems: string[] = [];
  const server = resolveEntry(slug, entry, prefixes, { ...resolution, problems });
  if (server === undefined || problems.length > 0) {
    return { state: "misconfigured", sentences: problems };
  }
  return {
    server: named.name === slug ? server : { ...server, label: named.name },
    ...{ state: "partly-read", sentences },
  };
}

/** An entry in the keys of this gateway, or why it cannot be served. */
export type NamedRead =
  | {
      readonly kind: "read";
      readonly slug: string;
      /** Not yet checked against the schema. */
      readonly entry: JsonObject;
      /** They name the keys of which nothing comes. */
      readonly sentences: readonly string[];
    }
  | ({ readonly kind: "refused" } & Pick<EntryNotice, "state" | "sentences">);

function refused(state: EntryNotice["state"], ...sentences: readonly string[]): NamedRead {
  return { kind: "refused", state, sentences };
}

/** @param place precedes the slug in sentences. */
export function readNamed(
  { name, slug, entry: given, isLeftOut, mistake }: NamedEntry,
  place: ServerResolution["place"],
): NamedRead {
  const key = `${place}${slug ?? name}`;
  if (!isObject(given)) return refused("misconfigured", `${key}: must be a table.`);
  const { kind, entry, mistakes } = readEntry(given);
  if (kind === "off" || isLeftOut) return refused("off", `${key} is switched off.`);
  if (kind === "program") return refused("stdio", needsMachine(key, given));
  const named = mistake === undefined ? [] : [`${key}: ${mistake}.`];
  const sentences = [...named, ...mistakes.map((each) => `${key}${each}.`)];
  if (slug === undefined || sentences.length > 0) return refused("misconfigured", ...sentences);
  const { known, ignored } = withoutHarmless(entry);
  const unknown = `${key}: nobody knows ${quoted(ignored)}, so nothing comes of it.`;
  return { kind: "read", slug, entry: known, sentences: ignored.length > 0 ? [unknown] : [] };
}

/** @param prefixes whose each prefix is; this server's is added. */
export function resolveEntry(
  slug: string,
  entry: JsonObject,
  prefixes: Map<string, string>,
  resolution: ServerResolution,
): Server | undefined {
  const { place, problems } = resolution;
  const key = `${place}${slug}`;
  const parsed = serverSchema().safeParse(entry);
  if (!parsed.success) {
    problems.push(...mistakesIn(key, parsed.error));
    return undefined;
  }
  const { prefix = defaultPrefix(slug) } = parsed.data;
  if (
    resolution.isPublishingOn &&
    [slug, prefix].some((name) => name.startsWith(PUBLISHED_PREFIX))
  ) {
    problems.push(
      `${key}: names that begin with "${PUBLISHED_PREFIX}" are those of servers that people publish (PUBLISHING is "on"); choose another slug and prefix.`,
    );
  }
  const owner = prefixes.get(prefix);
  // The prefix stays that of the earlier entry even if that one is off: else calls meant for it would come here.
  if (owner === undefined) prefixes.set(prefix, slug);
  else {
    problems.push(
      `${key}.prefix is "${prefix}", as that of "${owner}"; each server needs its own.`,
    );
  }
  return resolveServer(slug, parsed.data, resolution);
}

function needsMachine(key: string, entry: JsonObject): string {
  const address = addressBehind(entry);
  return address === undefined
    ? `${key} starts a program ("command"), which needs a machine: publish it from one over HTTP, for example with "npx -y supergateway --outputTransport streamableHttp --stdio COMMAND", and put the address of that into "url".`
    : `${key} starts a program ("command") that only leads to ${address}; put that address into "url" instead.`;
}

/** Words in the names of keys that could be meant to forbid something. */
const RESTRICTS =
  /access|allow|approv|auth|ban|black|block|confirm|den[iy]|disab|enab|exclu|filter|forbid|hid|ignor|inclu|limit|mask|off|only|paus|permi|polic|prohib|protect|redact|requir|restrict|role|safe|sandbox|scope|secur|skip|trust|visib|white/i;

/**
 * Takes away the keys that nobody knows, and that can have forbidden nothing: a word or a number, under a name that
 * resembles no key. Any other may be a rule, which would be lost, so the schema refuses it.
 */
function withoutHarmless(entry: JsonObject): {
  readonly known: JsonObject;
  readonly ignored: readonly string[];
} {
  const own = serverKeys();
  const all = [...own, ...Object.keys(SPELLINGS)];
  const ignored = Object.entries(entry)
    .filter(([key, value]) => {
      const isWord = typeof value === "string" || typeof value === "number";
      return (
        isWord && !own.includes(key) && !RESTRICTS.test(key) && closest(key, all) === undefined
      );
    })
    .map(([key]) => key);
  const kept = Object.entries(entry).filter(([key]) => !ignored.includes(key));
  return { known: Object.fromEntries(kept), ignored };
}

function serverKeys(): readonly string[] {
  return Object.keys(serverSchema().def.shape);
}
