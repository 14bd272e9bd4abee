/**
 * How a catalog lies in a table: each of its lists is a text with one line for each thing, cut into
 * rows. Neither way is a catalog in memory as a whole text: one may have tens of megabytes.
 */

import { cutIntoRows } from "../../lib/cut-into-rows.ts";
import type { Era } from "../../protocol/revisions.ts";
import {
  type About,
  type Catalog,
  type Item,
  LIST_KINDS,
  type ListFault,
  type ListKind,
} from "../catalog.ts";

/** What is kept apart: a change of one leaves the rows of the others as they are. */
export const PARTS = ["about", ...LIST_KINDS] as const satisfies readonly ("about" | ListKind)[];
export type Part = (typeof PARTS)[number];

/** Lines share a row up to this; a longer one has rows of its own. */
const MAX_ROW_CHARS = 256 * 1024;

type AboutLine = readonly [
  about: About,
  flaws: readonly string[],
  isPublic: boolean,
  era: Era,
  /** Rows that were written before there were any have none. */
  faults?: readonly ListFault[],
];
type ItemLine = readonly [name: string, text: string];

/** The same rows for the same part, each of a size that the table takes. */
export function* rowsOf(catalog: Catalog, part: Part): Generator<string, void, void> {
  let row = "";
  for (const line of linesOf(catalog, part)) {
    for (const piece of cutIntoRows(`${line}\n`)) {
      if (row !== "" && row.length + piece.length > MAX_ROW_CHARS) {
        yield row;
        row = "";
      }
      row += piece;
    }
  }
  if (row !== "") yield row;
}

/** JSON has no line breaks of its own, and spells half characters so that every store keeps them. */
function* linesOf(catalog: Catalog, part: Part): Generator<string, void, void> {
  if (part === "about") {
    const { about, flaws, isPublic, era, faults } = catalog;
    yield JSON.stringify([about, flaws, isPublic, era, faults] satisfies AboutLine);
    return;
  }
  for (const { name, text } of catalog.lists[part]) {
    yield JSON.stringify([name, text] satisfies ItemLine);
  }
}

/** @param rowsAt the rows of a part, as `rowsOf` made them, in order. */
export function catalogFrom(
  version: string,
  rowsAt: (part: Part) => Iterable<string>,
): Catalog | undefined {
  const [aboutLine] = splitLines(rowsAt("about"));
  if (aboutLine === undefined) return undefined;
  const [about, flaws, isPublic, era, faults = []] = JSON.parse(aboutLine) as AboutLine;
  const itemsOf = (list: ListKind): Item[] =>
    Array.from(splitLines(rowsAt(list)), (line) => {
      const [name, text] = JSON.parse(line) as ItemLine;
      return { name, text };
    });
  const lists = Object.fromEntries(LIST_KINDS.map((list) => [list, itemsOf(list)]));
  return { version, era, about, lists: lists as Record<ListKind, Item[]>, flaws, faults, isPublic };
}

function* splitLines(rows: Iterable<string>): Generator<string, void, void> {
  let begun = "";
  for (const row of rows) {
    let start = 0;
    for (let end = row.indexOf("\n"); end !== -1; end = row.indexOf("\n", start)) {
      yield begun + row.slice(start, end);
      begun = "";
      start = end + 1;
    }
    begun += row.slice(start);
  }
}
