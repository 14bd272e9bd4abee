/** The matrix as the documents show it: what crosses in each cell, and what comes instead of the rest. */

import { isLegacy, OVER_SSE, REVISIONS, type Revision } from "../support/revisions.ts";
import { crosses, type Feature } from "./matrix.ts";

const FIRST_MARK = 97; // "a"

/** @returns Markdown: what crosses in each cell, with the marks of `tableOf` for what does not. */
export function gridOf(features: readonly Feature[]): string {
  const marks = marksOf(features);
  const cellOf = (client: Revision, server: Revision): string => {
    const missing = [...marks].filter(([feature]) => !crosses(feature, { client, server }));
    return missing.length === 0 ? "all" : `all but ${rangesOf(missing.map(([, mark]) => mark))}`;
  };
  return [
    `| Client, and server: | ${REVISIONS.map(titleOf).join(" | ")} |`,
    `|---|${REVISIONS.map(() => "---|").join("")}`,
    ...REVISIONS.map((client) => {
      const cells = REVISIONS.map((server) => cellOf(client, server));
      return `| ${titleOf(client)} | ${cells.join(" | ")} |`;
    }),
  ].join("\n");
}

/** @returns Markdown: the grid, and what each of its marks means. */
export function tableOf(features: readonly Feature[]): string {
  const everywhere = features.filter(({ since }) => since === undefined);
  return [
    gridOf(features),
    "",
    `"All" means: ${everywhere.map(({ name }) => name).join(", ")}, and`,
    "",
    "| | | Where one side is older |",
    "|---|---|---|",
    ...[...marksOf(features)].map(
      ([{ name, since, instead }, mark]) => `| ${mark} | ${name}, from ${since} on | ${instead} |`,
    ),
  ].join("\n");
}

/** A letter for each feature that some revision does not have. */
function marksOf(features: readonly Feature[]): ReadonlyMap<Feature, string> {
  const partial = features.filter(({ since }) => since !== undefined);
  return new Map(
    partial.map((feature, place) => [feature, String.fromCodePoint(FIRST_MARK + place)]),
  );
}

/** `a b c e` as `a–c e`. */
function rangesOf(marks: readonly string[]): string {
  const runs: string[][] = [];
  for (const mark of marks) {
    const run = runs.at(-1);
    const isNext = run?.at(-1)?.codePointAt(0) === (mark.codePointAt(0) ?? 0) - 1;
    if (isNext) run?.push(mark);
    else runs.push([mark]);
  }
  return runs.map((run) => (run.length > 1 ? `${run[0]}–${run.at(-1)}` : run[0])).join(" ");
}

function titleOf(revision: Revision): string {
  if (revision === OVER_SSE) return `${revision}, HTTP+SSE`;
  return isLegacy(revision) ? revision : `${revision}, no sessions`;
}
