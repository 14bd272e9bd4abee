/** What users are told of servers that are not whole, in the `_meta` of a list. */

import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { Conflict } from "../routing/conflicts.ts";
import { SERVER_KEY } from "../../endpoint/attribution.ts";
import { type ListKind, LISTS } from "../catalog.ts";
import type { Known } from "../cache/catalogs.ts";

/** Of a list: who is missing from it, and what. */
const SERVERS_KEY = "edgeway/servers";
/** Of a thing in a list: that it is the last that was heard of it. */
export const STATE_KEY = "edgeway/state";

/** After what is wrong was asked about, it is worth asking again this soon. */
const TROUBLED_FRESH_MS = 5000;

/** @returns the `_meta` of a list of these servers' things; `undefined` when all is well. */
export function metaOfServers(
  servers: readonly Known[],
  conflicts: readonly Conflict[],
): JsonObject | undefined {
  const notes: JsonObject[] = servers.flatMap(notesOn);
  for (const conflict of conflicts) notes.push({ ...conflict, state: "conflict" });
  return notes.length === 0 ? undefined : { [SERVERS_KEY]: notes };
}

function notesOn({ server, catalog, trouble }: Known): JsonObject[] {
  const { slug } = server;
  const notes: JsonObject[] = [];
  if (trouble !== undefined) {
    const { message, since } = trouble;
    notes.push({ server: slug, state: catalog === undefined ? "down" : "failing", message, since });
  }
  for (const { list, message, since } of catalog?.faults ?? []) {
    notes.push({ server: slug, state: "failing", list: LISTS[list].method, message, since });
  }
  for (const message of catalog?.flaws ?? []) notes.push({ server: slug, state: "cut", message });
  return notes;
}

/** What is added to the `_meta` of each thing of a list of a server. */
export function metaOfItems({ server, catalog, trouble }: Known, list: ListKind): JsonObject {
  const failing = trouble ?? catalog?.faults.find((fault) => fault.list === list);
  return {
    [SERVER_KEY]: server.slug,
    // It is shown from the last list that was had.
    ...(failing === undefined ? {} : { [STATE_KEY]: { state: "failing", since: failing.since } }),
  };
}

/** For how long what was said of these servers is good, in whole milliseconds. */
export function freshMsOf(servers: readonly Known[]): number {
  const each = servers.map(({ freshMs, catalog, trouble }) => {
    const isWell = trouble === undefined && (catalog?.faults.length ?? 0) === 0;
    return isWell ? freshMs : Math.min(freshMs, TROUBLED_FRESH_MS);
  });
  return Math.floor(Math.min(...each));
}
