/** Notes for users on incomplete servers, in the `_meta` of a list. */

import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { Conflict } from "../routing/conflicts.ts";
import { SERVER_KEY } from "../../endpoint/attribution.ts";
import { type ListKind, LISTS } from "../catalog.ts";
import type { Known } from "../cache/catalogs.ts";

/** The notes on a list: the servers with missing items, and the reasons. */
const SERVERS_KEY = "edgeway/servers";
/** The note on an item: it comes from the last list that the server returned. */
export const STATE_KEY = "edgeway/state";

/** A list with trouble is worth another request after this time. */
const TROUBLED_FRESH_MS = 5000;

/** @returns the `_meta` of a list of these servers' items; `undefined` when all is well. */
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

/** The members that are added to the `_meta` of each item of a server's list. */
export function metaOfItems({ server, catalog, trouble }: Known, list: ListKind): JsonObject {
  const failing = trouble ?? catalog?.faults.find((fault) => fault.list === list);
  return {
    [SERVER_KEY]: server.slug,
    // The item comes from the last list that the server returned.
    ...(failing === undefined ? {} : { [STATE_KEY]: { state: "failing", since: failing.since } }),
  };
}

/** The time for which a list of these servers is fresh, in whole milliseconds. */
export function freshMsOf(servers: readonly Known[]): number {
  const each = servers.map(({ freshMs, catalog, trouble }) => {
    const isWell = trouble === undefined && (catalog?.faults.length ?? 0) === 0;
    return isWell ? freshMs : Math.min(freshMs, TROUBLED_FRESH_MS);
  });
  return Math.floor(Math.min(...each));
}
