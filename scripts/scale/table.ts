/** Tables of Markdown, and numbers in them. Pure. */

export function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** All columns but the first are numbers, or short. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = headings.map((_, column) => (column === 0 ? "---" : "--:"));
  return [headings, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
