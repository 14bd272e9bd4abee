/**
 * The format of a catalog in a table: each list is a text with one line for each item, cut into
 * rows. Neither direction holds a whole catalog as one text: it may have tens of megabytes.
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

/** The parts are stored separately: a change of one leaves the rows of the others as they are. */
export const PARTS = ["about", ...LIST_KINDS] as const satisfies readonly ("about" | ListKind)[];
export type Part = (typeof PARTS)[number];

/** Lines share a row up to this length; a longer line has rows of its own. */
const MAX_ROW_CHARS = 256 * 1024;

type AboutLine = readonly [
  about: About,
  flaws: readonly string[],
  isPublic: boolean,
  era: Era,
  /** Absent from rows that were written before this member existed. */
  faults?: readonly ListFault[],
];
type ItemLine = readonly [name: string, text: string];

/** Yields the same rows for the same part, each of a size that the table accepts. */
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

/** JSON text has no line breaks and escapes lone surrogates, so that every store keeps them. */
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
