/**
 * Whether two runs say the same: the ratios of both, and how far they are apart. Those that are held
 * against the limit are the ones that depend least on what else the machine does: of what is
 * computed for a request. Pure.
 */

import type { Line } from "./lines.ts";
import { CPU_REQUESTS } from "./row.ts";

export interface Pair {
  readonly what: string;
  readonly first: number;
  readonly second: number;
  /** By how much of the smaller one the larger one is above it. */
  readonly apart: number;
  /** Whether it has to agree. */
  readonly isHeld: boolean;
}

/** From one run to the next, a ratio may differ by so much. */
const LIMIT = 0.15;

/** @throws Error when the runs have no ratio in common. */
export function pairsOf(first: readonly Line[], second: readonly Line[]): readonly Pair[] {
  const others = new Map(second.map((line) => [nameOf(line), line.ratio]));
  const pairs: Pair[] = [];
  for (const line of first) {
    const what = nameOf(line);
    const [one, other] = [line.ratio, others.get(what)];
    if (one === undefined || other === undefined) continue;
    const apart = Math.max(one, other) / Math.min(one, other) - 1;
    pairs.push({ what, first: one, second: other, apart, isHeld: isHeld(line) });
  }
  if (pairs.length === 0) throw new Error("The two runs have no ratio in common");
  return pairs;
}

export function doAgree(pairs: readonly Pair[]): boolean {
  return pairs.every(({ apart, isHeld: held }) => !held || apart <= LIMIT);
}

/** Those that have to agree first, the worst of them on top. */
export function agreementAsText(pairs: readonly Pair[]): string {
  const sorted = pairs.toSorted((a, b) => Number(b.isHeld) - Number(a.isHeld) || b.apart - a.apart);
  const lines = sorted.map(({ what, first, second, apart, isHeld: held }) => {
    const percent = `${(apart * 100).toFixed(1)} %`.padStart(8);
    const verdict = held ? (apart <= LIMIT ? "agrees" : "DIFFERS") : "";
    return `${first.toFixed(2).padStart(8)}${second.toFixed(2).padStart(8)}${percent}  ${verdict.padEnd(7)}  ${what}`;
  });
  const held = pairs.filter((pair) => pair.isHeld);
  const agreeing = held.filter(({ apart }) => apart <= LIMIT).length;
  const sum = `${agreeing} of ${held.length} ratios of ${CPU_REQUESTS.unit} are within ${LIMIT * 100} %`;
  return `${lines.join("\n")}\n${sum}\n`;
}

function isHeld({ unit }: Line): boolean {
  return unit === CPU_REQUESTS.unit;
}

function nameOf({ row, variant, unit, peer }: Line): string {
  return [row, variant, unit, peer?.name ?? ""].join(", ");
}
