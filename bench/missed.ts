/**
 * The list of `docs/benchmarks.md` that says why targets are missed, and what they would take: a paragraph
 * by hand for each of them, which names it in bold letters. Pure.
 */

import { blockOf } from "../scripts/blocks.ts";

/**
 * @param text the document, with its table of targets.
 * @returns a sentence for each target that is missed and has no paragraph, and each that has one and is met.
 */
export function unexplained(text: string): readonly string[] {
  const targets = blockOf(text, "targets");
  const [, after = ""] = text.split("<!-- end of targets -->");
  const [explanation = ""] = after.split(/^## /m);
  const paragraphs = explanation.match(/^- .+$/gm) ?? [];
  const explained = new Set(
    paragraphs.flatMap((each) => Array.from(each.matchAll(/\*\*(.+?)\*\*/g), ([, name]) => name)),
  );
  const rows = [...targets.matchAll(/^\| (.+?) \|.* (met|missed|not measured) \|$/gm)];
  return rows.flatMap(([, name = "", outcome]) => {
    if (outcome === "missed" && !explained.has(name)) {
      return [`"${name}" is missed, and no paragraph below the targets says why`];
    }
    if (outcome === "met" && explained.has(name)) {
      return [`"${name}" is met, and a paragraph below the targets says why it is missed`];
    }
    return [];
  });
}
