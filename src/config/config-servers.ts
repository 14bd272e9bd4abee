/**
 * `MCP_SERVERS`: each entry becomes a server, or a notice that says why it does not. A mistake in an entry is that
 * entry's own: the others are served.
 */

import type { Configured } from "../endpoint/endpoint.ts";
import type { Server } from "../endpoint/server.ts";
import type { EntryNotice } from "../observability/health.ts";
import { isObject, type JsonObject } from "../protocol/json-rpc.ts";
import {
  defaultPrefix,
  resolveServer,
  type ServerResolution,
  serverSchema,
  SLUG,
} from "./config-server.ts";
import { isUnset, mistakesIn, parseTable } from "./config-table.ts";

const KEY = "MCP_SERVERS";
/** The demo upstream is bound in development only; a deployed Worker does not have the name. */
const DEMO_BINDING = "DEMO";

/** @param resolution its `problems` receive only what concerns the gateway as a whole. */
export function parseServers(resolution: ServerResolution): Configured {
  const { env, problems } = resolution;
  const value = env[KEY];
  const table = isUnset(value) ? {} : parseTable(KEY, value, problems);
  if (isObject(table))
    return Object.keys(table).length > 0 ? parseEntries(table, resolution) : demo(resolution);
  if (table !== undefined) problems.push(`${KEY} must be a table of servers, each under its slug.`);
  return { servers: new Map(), notices: [] };
}

function demo(resolution: ServerResolution): Configured {
  const { env } = resolution;
  const server =
    env[DEMO_BINDING] === undefined
      ? undefined
      : resolveServer("demo", { service: DEMO_BINDING }, resolution);
  return { servers: new Map(server && [["demo", server]]), notices: [] };
}

function parseEntries(table: JsonObject, resolution: ServerResolution): Configured {
  const servers = new Map<string, Server>();
  const notices: EntryNotice[] = [];
  const prefixes = new Map<string, string>();
  for (const [name, entry] of Object.entries(table)) {
    const sentences: string[] = [];
    const slug = slugOf(name, sentences);
    const server =
      slug === undefined
        ? undefined
        : parseEntry(slug, entry, prefixes, { ...resolution, problems: sentences });
    if (server !== undefined && sentences.length === 0) servers.set(server.slug, server);
    else
      notices.push({
        name,
        ...(slug !== undefined && { slug }),
        state: "misconfigured",
        sentences,
      });
  }
  return { servers, notices };
}

function slugOf(name: string, problems: string[]): string | undefined {
  if (name === "message") {
    problems.push(`${KEY}.${name}: "message" cannot be a slug, since /sse/message is an endpoint.`);
    return undefined;
  }
  if (SLUG.test(name) && !name.includes("__")) return name;
  problems.push(`${KEY}.${name}: a slug has 1 to 24 characters of a-z, 0-9 and "-".`);
  return undefined;
}

/** @param prefixes whose each prefix is: with several servers, a prefix shows which one a name belongs to. */
function parseEntry(
  slug: string,
  entry: unknown,
  prefixes: Map<string, string>,
  resolution: ServerResolution,
): Server | undefined {
  const { problems } = resolution;
  const key = `${KEY}.${slug}`;
  const parsed = serverSchema().safeParse(entry);
  if (!parsed.success) {
    problems.push(...mistakesIn(key, parsed.error));
    return undefined;
  }
  const { prefix = defaultPrefix(slug) } = parsed.data;
  const owner = prefixes.get(prefix);
  if (owner === undefined) prefixes.set(prefix, slug);
  // The prefix stays that of the earlier entry even if that one has a mistake: else calls meant for it would come here.
  else
    problems.push(
      `${key}.prefix is "${prefix}", as that of "${owner}"; each server needs its own.`,
    );
  return resolveServer(slug, parsed.data, resolution);
}
