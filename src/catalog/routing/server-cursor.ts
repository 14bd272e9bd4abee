/**
 * Cursors of the one server of an endpoint, sealed on their way through a client: each is valid
 * only for its list and for the client that received it.
 */

import { isObject } from "../../protocol/json-rpc.ts";
import type { ListKind } from "../catalog.ts";
import { type SealScope, sealFor, unsealFor } from "../../endpoint/sealed.ts";

/** A place in a list of a server. */
export interface ServerListPosition {
  /** The number of pages before it. */
  readonly pages: number;
  /** The server's own; empty is legal (2026-07-28, pagination). Absent at the beginning. */
  readonly cursor: string | undefined;
}

export const BEGINNING: ServerListPosition = { pages: 0, cursor: undefined };

export function sealServerCursor(
  holder: SealScope,
  slug: string,
  list: ListKind,
  { pages, cursor }: ServerListPosition,
): Promise<string> {
  return sealFor(holder, "cursor", { s: slug, l: list, n: pages, c: cursor });
}

/** @returns `undefined` unless the cursor was issued to this client for this list. */
export async function openServerCursor(
  holder: SealScope,
  slug: string,
  list: ListKind,
  sealed: unknown,
): Promise<ServerListPosition | undefined> {
  const opened = typeof sealed === "string" ? await unsealFor(holder, "cursor", sealed) : undefined;
  if (!isObject(opened) || opened["s"] !== slug || opened["l"] !== list) return undefined;
  const { n: pages, c: cursor } = opened;
  return typeof pages === "number" && typeof cursor === "string" ? { pages, cursor } : undefined;
}
