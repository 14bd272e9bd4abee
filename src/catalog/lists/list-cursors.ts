/**
 * The cursors of lists. A cursor is sealed, so nothing is kept between pages, and it is valid only for
 * its list and for the client that received it.
 */

import { ErrorCode } from "../../protocol/error-codes.ts";
import {
  type ErrorObject,
  errorReply,
  isObject,
  type JsonObject,
} from "../../protocol/json-rpc.ts";
import { type SealScope, sealFor, unsealFor } from "../../endpoint/sealed.ts";
import type { ListKind } from "../catalog.ts";

/** The same error for every invalid cursor. */
export function badCursor(): { readonly error: ErrorObject } {
  return errorReply(ErrorCode.InvalidParams, "Invalid cursor: list again from the beginning");
}

/**
 * The beginning of the next page of a merged list: behind an item of a server. If the list changes in
 * between, the position moves with the item.
 */
export interface MergedListPosition {
  readonly list: ListKind;
  readonly slug: string;
  /** The index of the last returned item in the server's list. */
  readonly index: number;
  /** The server's own name of that item; `undefined` if it is too long for a cursor. */
  readonly after: string | undefined;
  /** The number of returned items of the server: it ends a list that keeps changing. */
  readonly returned: number;
  /** The search text. */
  readonly search: string | undefined;
  /** When the client asked for the first page, in milliseconds since 1970: later pages are not of before. */
  readonly since: number;
}

const MAX_NAME_CHARS = 1024;

export function sealMergedCursor(
  scope: SealScope,
  { list, slug, index, after, returned, search, since }: MergedListPosition,
): Promise<string> {
  const isShort = after !== undefined && after.length <= MAX_NAME_CHARS;
  // JSON leaves out members that are `undefined`.
  return sealFor(scope, "cursor", {
    list,
    slug,
    index,
    told: returned,
    after: isShort ? after : undefined,
    search,
    since,
  });
}

/** @returns `undefined` unless it is a cursor of this list that was issued to this client. */
export async function openMergedCursor(
  scope: SealScope,
  list: ListKind,
  cursor: unknown,
): Promise<MergedListPosition | undefined> {
  const opened = await openCursor(scope, cursor);
  // Cursors that were issued before `since` existed have none.
  const { list: sealed, slug, index, after, told: returned, search, since = 0 } = opened;
  if (sealed !== list || typeof slug !== "string") return undefined;
  if (typeof index !== "number" || typeof returned !== "number") return undefined;
  if (typeof since !== "number") return undefined;
  return { list, slug, index, after: textIn(after), returned, search: textIn(search), since };
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A position in a list of the one server of an endpoint. */
export interface ServerListPosition {
  /** The number of pages before it. */
  readonly pages: number;
  /** The server's own; empty is legal (2026-07-28, pagination). Absent at the beginning. */
  readonly cursor: string | undefined;
}

export const BEGINNING: ServerListPosition = { pages: 0, cursor: undefined };

/** The lists of a server; that of its tasks is of 2025-11-25. */
type ServerList = ListKind | "tasks";

export function sealServerCursor(
  scope: SealScope,
  slug: string,
  list: ServerList,
  { pages, cursor }: ServerListPosition,
): Promise<string> {
  return sealFor(scope, "cursor", { s: slug, l: list, n: pages, c: cursor });
}

/** @returns `undefined` unless the cursor was issued to this client for this list. */
export async function openServerCursor(
  scope: SealScope,
  slug: string,
  list: ServerList,
  sealed: unknown,
): Promise<ServerListPosition | undefined> {
  const { s, l, n: pages, c: cursor } = await openCursor(scope, sealed);
  if (s !== slug || l !== list) return undefined;
  return typeof pages === "number" && typeof cursor === "string" ? { pages, cursor } : undefined;
}

/** @returns no members for a cursor that was not issued to this client. */
async function openCursor(scope: SealScope, sealed: unknown): Promise<JsonObject> {
  const opened = typeof sealed === "string" ? await unsealFor(scope, "cursor", sealed) : undefined;
  return isObject(opened) ? opened : {};
}
