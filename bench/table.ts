/** Lines as people read them: in columns, or as Markdown with a line for all peers of a metric. Pure. */

import type { Line, Named } from "./lines.ts";

const HEADINGS = ["row", "", "", "Edgeway", "peer", "", "ratio"];
/** In these columns peers stand under one another. */
const FIRST_OF_PEERS = 4;
const NEAR_CEILING = "*";
const NOTHING = "–";

function cellsOf({ row, variant, unit, digits, ours, peer, ratio }: Line): readonly string[] {
  return [
    ...[row, variant, unit, inWords(ours, digits), peer?.name ?? NOTHING],
    ...[peer === undefined ? NOTHING : inWords(peer, digits), ratio?.toFixed(2) ?? NOTHING],
  ];
}

/** The value, and between which values the others are. */
function inWords({ value, low, high, isNearCeiling }: Named, digits: number): string {
  const say = (number: number): string =>
    number.toLocaleString("en-US", {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
  const mark = isNearCeiling === true ? NEAR_CEILING : "";
  return low === high ? say(value) + mark : `${say(value)}${mark} (${say(low)}–${say(high)})`;
}

export function asText(lines: readonly Line[]): string {
  const rows = [HEADINGS, ...lines.map((line) => cellsOf(line))];
  const widths = HEADINGS.map((_, column) =>
    Math.max(...rows.map((cells) => cells[column]?.length ?? 0)),
  );
  const padded = rows.map((cells) =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column === HEADINGS.length - 1 ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd(),
  );
  return `${padded.join("\n")}\n`;
}

export function asMarkdown(lines: readonly Line[]): string {
  const groups = new Map<string, (readonly string[])[]>();
  for (const line of lines) {
    const cells = cellsOf(line);
    const what = cells.slice(0, FIRST_OF_PEERS).join("\n");
    groups.set(what, [...(groups.get(what) ?? []), cells]);
  }
  const rows = [...groups.values()].map((group) =>
    HEADINGS.map((_, column) => {
      const said = group.map((cells) => cells[column] ?? "");
      return column < FIRST_OF_PEERS ? (said[0] ?? "") : said.join("<br>");
    }),
  );
  return markdownTable(HEADINGS, rows);
}

/** The last column is one of numbers. */
export function markdownTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const rule = headings.map((_, column) => (column === headings.length - 1 ? "--:" : "---"));
  return `${markdownRow(headings)}|${rule.join("|")}|\n${rows.map((cells) => markdownRow(cells)).join("")}`;
}

function markdownRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
}
