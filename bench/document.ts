/** `docs/benchmarks.md`: the blocks that a run of the benchmark writes. Pure. */

import { withBlock } from "../scripts/blocks.ts";
import { asBullets, type Report } from "./report.ts";
import { asMarkdown, markdownTable } from "./table.ts";
import { TARGET_HEADINGS, targetsAsRows } from "./targets.ts";

/** Its path, from `docs`. */
export const CHART = "images/benchmarks.svg";

/**
 * @param text the document as it is
 * @returns the document with the targets and measurements of this run
 */
export function documentOf(text: string, report: Report): string {
  const targets = markdownTable(TARGET_HEADINGS, targetsAsRows(report.targets));
  const measurements = `${asMarkdown(report.lines)}\n${asBullets(report)}`;
  return withBlock(withBlock(text, "targets", targets), "measurements", measurements);
}
