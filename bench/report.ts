/** What a run says when it is over: what was measured, how, what came of it. Pure. */

import { type Line, NEAR } from "./lines.ts";
import { asMarkdown, asText, markdownTable } from "./table.ts";
import { type Target, TARGET_HEADINGS, targetsAsRows } from "./targets.ts";

export interface Report {
  /** How it was measured. */
  readonly about: readonly string[];
  readonly targets: readonly Target[];
  readonly lines: readonly Line[];
  /** What has to be said of single rows. */
  readonly notes: readonly string[];
  /** Rows that have no number, with the reason. */
  readonly failures: readonly string[];
}

export const HOW_TO_READ = [
  "A value is the median of all rounds, with the lowest and the highest; a ratio is Edgeway's by the peer's in the same line: the median of the ratios of each round, in which all ran one after the other",
  "A rate is that of all rounds together, and its ratio that of these rates: garbage is collected in some rounds for all others",
  "req/CPU-s: requests for each second of processor time of all processes that serve them (the gateway and its upstream, a proxy and its children). They depend less on what else the machine does than req/s and ms, but they do depend on it: compare two runs before a difference is believed",
  `The load generator: what it reached before the rounds, against a Worker that only answers. * marks who reached more than ${NEAR * 100} % of it: that may be the load generator's limit`,
  "What is measured goes before all other programs (`SCHED_RR`), if root runs it, and the processors are kept at work by what computes when it does not: so a quiet machine is like a busy one",
];

export function reportAs(output: "table" | "json" | "markdown", report: Report): string {
  const { about, targets, lines, notes } = report;
  switch (output) {
    case "json":
      return `${JSON.stringify(report, undefined, 2)}\n`;
    case "markdown":
      return [
        markdownTable(TARGET_HEADINGS, targetsAsRows(targets)),
        asMarkdown(lines),
        asBullets(report),
      ].join("\n");
    case "table": {
      const said = [...about, ...notes].map((sentence) => `${sentence}\n`).join("");
      const reached = targets.map(
        ({ name, against, measured, wanted, outcome }) =>
          `${outcome}: ${name}, against ${against}: ${measured}, ${wanted} wanted\n`,
      );
      return [said, reached.join(""), asText(lines)].join("\n");
    }
  }
}

/** @returns Markdown: how it was measured, notes on single rows, and the rows without a number. */
export function asBullets({ about, notes, failures }: Report): string {
  const bullets = [...about, ...notes, ...failures.map((each) => `Not measured: ${each}`)];
  return bullets.map((sentence) => `- ${sentence}\n`).join("");
}
