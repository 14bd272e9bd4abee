/** What is read off the lines of a run, for a target: one number, or one of each variant. Pure. */

import type { Line, Named } from "./lines.ts";
import { summarize } from "./statistics.ts";

export interface Reading {
  readonly variant: string;
  readonly value: number;
}

export type Read = (lines: readonly Line[]) => readonly Reading[];

/** Which lines. All variants and peers, where none is named. */
export interface Where {
  readonly row: string;
  readonly variant?: string;
  readonly unit: string;
  readonly peer?: string;
}

/** Ours, as it is. */
export function values(where: Where): Read {
  return (lines) =>
    find(lines, where).map(({ variant, ours }) => ({ variant, value: ours.median }));
}

/** The ratio of each line. */
export function ratios(where: Where): Read {
  return (lines) =>
    find(lines, where).flatMap(({ variant, ratio }) =>
      ratio === undefined ? [] : [{ variant, value: ratio }],
    );
}

/** What ours adds to the base, by what another one adds to it: all of them peers of the same line. */
export function additions(base: Where, other: Where): Read {
  return (lines) => {
    const [ours, its] = [find(lines, base)[0], find(lines, other)[0]];
    if (ours?.peer === undefined || its?.peer === undefined) return [];
    return quotient(ours.variant, added(ours.ours, ours.peer), added(its.peer, ours.peer));
  };
}

/** What ours grows by from one variant to the next, by what the peer grows by. */
export function growth(from: Where, to: Where): Read {
  return (lines) => {
    const [before, after] = [find(lines, from)[0], find(lines, to)[0]];
    if (before?.peer === undefined || after?.peer === undefined) return [];
    return quotient(after.variant, added(after.ours, before.ours), added(after.peer, before.peer));
  };
}

/** @returns no reading when the divisor is nothing, or noise below it. */
function quotient(variant: string, dividend: number, divisor: number): readonly Reading[] {
  return divisor > 0 ? [{ variant, value: dividend / divisor }] : [];
}

/** The median of what one has more than the other in the same round. */
function added(one: Named, base: Named): number {
  const differences = one.samples.map(
    (value, round) => value - (base.samples[round] ?? Number.NaN),
  );
  return summarize(differences).median;
}

function find(lines: readonly Line[], { row, variant, unit, peer }: Where): readonly Line[] {
  return lines.filter(
    (line) =>
      line.row === row &&
      line.unit === unit &&
      (variant === undefined || line.variant === variant) &&
      (peer === undefined || line.peer?.name === peer),
  );
}
