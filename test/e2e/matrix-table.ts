/** The matrix as the README shows it: what crosses in each cell, and what comes instead of the rest. */

import { isLegacy, OVER_SSE, REVISIONS, type Revision } from "../support/revisions.ts";
import { crosses, type Feature } from "./matrix.ts";

const FIRST_MARK = 97; // "a"

/** @returns Markdown. */
export function tableOf(features: readonly Feature[]): string {
  const everywhere = features.filter(({ since }) => since === undefined);
  const marks = new Map(
    features
      .filter(({ since }) => since !== undefined)
      .map((feature, place) => [feature, String.fromCodePoint(FIRST_MARK + place)]),
  );
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
    "",
    `All is: ${everywhere.map(({ name }) => name).join(", ")}, and`,
    "",
    "| | | Where one side is older |",
    "|---|---|---|",
    ...[...marks].map(
      ([{ name, since, instead }, mark]) => `| ${mark} | ${name}, from ${since} on | ${instead} |`,
    ),
  ].join("\n");
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
