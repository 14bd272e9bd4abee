/**
 * Where the next page of a merged list begins: behind a thing of a server. It is all in the cursor,
 * which is sealed, so nothing is kept between pages; what changes in between moves the place along
 * with the thing.
 */

import { isObject } from "../../protocol/json-rpc.ts";
import { type SealScope, sealFor, unsealFor } from "../../endpoint/sealed.ts";
import type { ListKind } from "../catalog.ts";

export interface MergedListPosition {
  readonly list: ListKind;
  readonly slug: string;
  /** Of the last thing that was told, in the server's list. */
  readonly index: number;
  /** Its name, the server's own; `undefined` where that is too long to be carried about. */
  readonly after: string | undefined;
  /** How many things of the server were told, so that one that goes on changing comes to an end. */
  readonly told: number;
  /** What is looked for. */
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

/** @returns `undefined` for whatever is no cursor of this list that this client was given. */
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
