/** Notes for users on incomplete servers, in the `_meta` of a list. */

import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import type { Conflict } from "../routing/conflicts.ts";
import { SERVER_KEY } from "../../endpoint/attribution.ts";
import { type ListKind, LISTS, type Trouble } from "../catalog.ts";
import type { Known } from "../cache/catalogs.ts";
import type { UpstreamFailure } from "../../upstream/upstream-error.ts";
import type { RequestScope } from "../request-scope.ts";

/** The notes on a list: the servers with missing items, and the reasons. */
const SERVERS_KEY = "edgeway/servers";
/** The note on an item: it comes from the last list that the server returned. */
export const STATE_KEY = "edgeway/state";

/** A list with trouble is worth another request after this time. */
const TROUBLED_FRESH_MS = 5000;

/**
 * @param entries of `notesOnEntries`.
 * @returns the `_meta` of a list of these servers' items; `undefined` when all is well.
 */
export function metaOfServers(
  servers: readonly Known[],
  conflicts: readonly Conflict[],
  entries: readonly JsonObject[],
): JsonObject | undefined {
  const notes: JsonObject[] = [...servers.flatMap(notesOn), ...entries];
  for (const conflict of conflicts) notes.push({ ...conflict, state: "conflict" });
  return notes.length === 0 ? undefined : { [SERVERS_KEY]: notes };
}

function notesOn({ server, catalog, trouble }: Known): JsonObject[] {
  const { slug } = server;
  const notes: JsonObject[] = [];
  if (trouble !== undefined) {
    const { message, since } = trouble;
    const state = catalog === undefined ? "down" : "failing";
    const isOffline = stateOf(trouble) === "offline";
    notes.push({ server: slug, state: isOffline ? "offline" : state, message, since });
  }
  for (const { list, message, since } of catalog?.faults ?? []) {
    notes.push({ server: slug, state: "failing", list: LISTS[list].method, message, since });
  }
  for (const message of catalog?.flaws ?? []) notes.push({ server: slug, state: "cut", message });
  return notes;
}

/** The notes for administrators on the entries of `MCP_SERVERS` that are not served as they are written. */
export function notesOnEntries({
  isAdmin,
  endpoint: { notices = [] },
}: Pick<RequestScope, "isAdmin" | "endpoint">): readonly JsonObject[] {
  if (isAdmin !== true) return [];
  return notices
    .filter(({ state }) => state !== "off")
    .map(({ name, slug, state, sentences }) => ({
      server: slug ?? name,
      state,
      message: sentences.join(" "),
    }));
}

/** @returns a list of the only server with these notes, which nobody else may be shown from a cache. */
export function withNotes(result: JsonObject, notes: readonly JsonObject[]): JsonObject {
  if (notes.length === 0) return result;
  const { _meta: meta, cacheScope } = result;
  return {
    ...result,
    ...(cacheScope === undefined ? {} : { cacheScope: "private" }),
    _meta: { ...(isObject(meta) ? meta : {}), [SERVERS_KEY]: notes },
  };
}

/** The members that are added to the `_meta` of each item of a server's list. */
export function metaOfItems({ server, catalog, trouble }: Known, list: ListKind): JsonObject {
  const failing = trouble ?? catalog?.faults.find((fault) => fault.list === list);
  return {
    [SERVER_KEY]: server.slug,
    // The item comes from the last list that the server returned.
    ...(failing === undefined
      ? {}
      : { [STATE_KEY]: { state: stateOf(failing), since: failing.since } }),
  };
}

function stateOf({ reason }: Trouble): "offline" | "failing" {
  return reason === ("offline" satisfies UpstreamFailure) ? "offline" : "failing";
}

/** The time for which a list of these servers is fresh, in whole milliseconds. */
export function freshMsOf(servers: readonly Known[]): number {
  const each = servers.map(({ freshMs, catalog, trouble }) => {
    const isWell = trouble === undefined && (catalog?.faults.length ?? 0) === 0;
    return isWell ? freshMs : Math.min(freshMs, TROUBLED_FRESH_MS);
  });
  return Math.floor(Math.min(...each));
}
