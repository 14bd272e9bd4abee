/**
 * The beginning of the next page of a merged list: behind an item of a server. The sealed cursor
 * holds all of it, so nothing is kept between pages. If the list changes in between, the place
 * moves with the item.
 */

import { isObject } from "../../protocol/json-rpc.ts";
import { type SealScope, sealFor, unsealFor } from "../../endpoint/sealed.ts";
import type { ListKind } from "../catalog.ts";

export interface MergedListPosition {
  readonly list: ListKind;
  readonly slug: string;
  /** The index of the last returned item in the server's list. */
  readonly index: number;
  /** The server's own name of that item; `undefined` if it is too long for a cursor. */
  readonly after: string | undefined;
  /** The number of returned items of the server: it ends a list that keeps changing. */
  readonly told: number;
  /** The search text. */
  readonly search: string | undefined;
}

const MAX_NAME_CHARS = 1024;

export function sealMergedCursor(holder: SealScope, place: MergedListPosition): Promise<string> {
  const { list, slug, index, after, told, search } = place;
  const isShort = after !== undefined && after.length <= MAX_NAME_CHARS;
  return sealFor(holder, "cursor", {
    list,
    slug,
    index,
    told,
    ...(isShort ? { after } : {}),
    ...(search === undefined ? {} : { search }),
  });
}

/** @returns `undefined` unless it is a cursor of this list that was issued to this client. */
export async function openMergedCursor(
  holder: SealScope,
  list: ListKind,
  cursor: unknown,
): Promise<MergedListPosition | undefined> {
  const opened = typeof cursor === "string" ? await unsealFor(holder, "cursor", cursor) : undefined;
  if (!isObject(opened) || opened["list"] !== list) return undefined;
  const { slug, index, after, told, search } = opened;
  if (typeof slug !== "string" || typeof index !== "number" || typeof told !== "number") {
    return undefined;
  }
  return { list, slug, index, after: textIn(after), told, search: textIn(search) };
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
