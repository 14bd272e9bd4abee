/** What users are told of servers that are not whole, in the `_meta` of a list. */

import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { Known } from "./catalogs.ts";

/** Of a list: who is missing from it, and what. */
const SERVERS_KEY = "edgeway/servers";
/** Of a thing in a list: whose it is, when that server is not to be had. */
const SERVER_KEY = "edgeway/server";

/** After what is wrong was asked about, it is worth asking again this soon. */
const TROUBLED_FRESH_MS = 5000;

/** @returns the `_meta` of a list of these servers' things; `undefined` when all is well. */
export function metaOfServers(servers: readonly Known[]): JsonObject | undefined {
  const notes = servers.flatMap(notesOn);
  return notes.length === 0 ? undefined : { [SERVERS_KEY]: notes };
}

function notesOn({ server, catalog, trouble }: Known): JsonObject[] {
  const { slug } = server;
  const notes: JsonObject[] = [];
  if (trouble !== undefined) {
    const { message, since } = trouble;
    notes.push({ server: slug, state: catalog === undefined ? "down" : "failing", message, since });
  }
  for (const message of catalog?.flaws ?? []) notes.push({ server: slug, state: "cut", message });
  return notes;
}

/** What is added to the `_meta` of each thing that is shown from a last good catalog. */
export function metaOfItems({ server, catalog, trouble }: Known): JsonObject | undefined {
  if (catalog === undefined || trouble === undefined) return undefined;
  return { [SERVER_KEY]: { server: server.slug, state: "failing", since: trouble.since } };
}

/** For how long what was said of these servers is good, in whole milliseconds. */
export function freshMsOf(servers: readonly Known[]): number {
  const each = servers.map(({ freshMs, trouble }) =>
    trouble === undefined ? freshMs : Math.min(freshMs, TROUBLED_FRESH_MS),
  );
  return Math.floor(Math.min(...each));
}
