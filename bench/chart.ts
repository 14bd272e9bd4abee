/** The ratios of a run as a chart: one bar for each peer of a rate, on a logarithmic scale. Pure. */

import type { Line } from "./lines.ts";

/**
 * Units of which more is better. Latencies, and rates of one connection, come from the same measurements, and
 * are in the table.
 */
const RATES: ReadonlySet<string> = new Set(["req/CPU-s", "events/s", "sessions/s"]);
const WIDTH = 860;
const LABEL_WIDTH = 320;
const HEADER_HEIGHT = 34;
const GROUP_HEIGHT = 26;
const BAR_HEIGHT = 20;
/** The ratios at the ends of the scale. A ratio beyond them is drawn at the end. */
const LEAST = 0.05;
const MOST = 20;

/** @returns an SVG document. */
export function chartOf(lines: readonly Line[]): string {
  const shown = lines.filter(
    ({ unit, variant, ratio }) => RATES.has(unit) && variant !== "1 conn." && ratio !== undefined,
  );
  const one = placeOf(1);
  let y = HEADER_HEIGHT;
  const drawn: string[] = [];
  for (const [title, group] of Map.groupBy(shown, titleOf)) {
    drawn.push(`<text x="8" y="${y + 17}" fill="#222" font-weight="600">${escape(title)}</text>`);
    y += GROUP_HEIGHT;
    for (const line of group) {
      drawn.push(bar(line, y));
      y += BAR_HEIGHT;
    }
  }
  const height = y + BAR_HEIGHT;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12">
<title>Edgeway beside others</title>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text x="${one}" y="18" text-anchor="middle" fill="#444">as fast</text>
<text x="${one - 60}" y="18" text-anchor="end" fill="#444">the other is faster</text>
<text x="${one + 60}" y="18" fill="#444">Edgeway is faster</text>
<line x1="${one}" y1="26" x2="${one}" y2="${height - 10}" stroke="#999"/>
${drawn.join("\n")}
</svg>
`;
}

function titleOf({ row, variant, unit }: Line): string {
  return `${row}, ${variant}, ${unit}`;
}

function bar({ peer, ratio = 1 }: Line, y: number): string {
  const [one, end] = [placeOf(1), placeOf(ratio)];
  const [x, width] = [Math.min(one, end), Math.abs(end - one)];
  const colour = ratio >= 1 ? "#1a7f5a" : "#b4541a";
  const edge = ratio >= 1 ? `x="${end + 5}"` : `x="${end - 5}" text-anchor="end"`;
  return `<text x="24" y="${y + 14}" fill="#222">${escape(peer?.name ?? "")}</text>
<rect x="${x}" y="${y + 4}" width="${width}" height="12" fill="${colour}"/>
<text ${edge} y="${y + 14}" fill="#222">${ratio.toFixed(2)}</text>`;
}

/** From left to right on a logarithmic scale. */
function placeOf(ratio: number): number {
  const bounded = Math.min(Math.max(ratio, LEAST), MOST);
  const share = Math.log(bounded / LEAST) / Math.log(MOST / LEAST);
  return Math.round(LABEL_WIDTH + 40 + share * (WIDTH - LABEL_WIDTH - 90));
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
