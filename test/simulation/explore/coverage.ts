/** What the schedules have reached so far: of the session's states, of the kinds of faults, of the ends. */

import type { Edit } from "../platform/bundle.ts";
import { pairsOf, pairsTable } from "./kinds.ts";
import { FAULTS, type FaultKind } from "./faults.ts";
import type { Plan } from "./plan.ts";
import type { Played } from "./play.ts";

/** Makes the session say each way that it takes from one state to another. */
export const OBSERVED: readonly Edit[] = [
  {
    file: "src/sessions/state.ts",
    find: "    this.#state = next ?? this.#state;",
    replace: "    observe(`${this.#state}, ${event}`); this.#state = next ?? this.#state;",
  },
];

// By a name that the types of Node do not follow: they do not fit the Worker's own files.
const STATES = new URL("../../../src/sessions/state.ts", import.meta.url).href;
const { TRANSITIONS } = (await import(STATES)) as {
  readonly TRANSITIONS: Readonly<Record<string, object>>;
};

const WAYS = Object.entries(TRANSITIONS).flatMap(([state, ways]) =>
  Object.keys(ways).map((event) => `${state}, ${event}`),
);

/** The same as a message from one process to another. */
export interface CoverageCounts {
  readonly schedules: number;
  readonly steps: number;
  readonly ways: readonly (readonly [string, number])[];
  readonly faults: readonly (readonly [FaultKind, number])[];
  readonly ends: readonly (readonly [string, number])[];
  /** Of kinds of clients and servers, as JSON. */
  readonly pairs: readonly (readonly [string, number])[];
}

export class Coverage {
  schedules = 0;
  steps = 0;
  readonly #ways = new Map<string, number>();
  readonly #faults = new Map<FaultKind, number>();
  readonly #ends = new Map<string, number>();
  readonly #pairs = new Map<string, number>();

  readonly observe = (way: string): void => add(this.#ways, way);

  add(plan: Plan, { steps, met, ledger }: Played): void {
    this.schedules += 1;
    this.steps += steps;
    for (const kind of met) add(this.#faults, kind);
    for (const pair of pairsOf(plan)) add(this.#pairs, JSON.stringify(pair));
    for (const { ends } of ledger.calls.values()) add(this.#ends, ends[0] ?? "none");
  }

  get counts(): CoverageCounts {
    const { schedules, steps } = this;
    const [ways, faults, ends] = [[...this.#ways], [...this.#faults], [...this.#ends]];
    return { schedules, steps, ways, faults, ends, pairs: [...this.#pairs] };
  }

  merge({ schedules, steps, ways, faults, ends, pairs }: CoverageCounts): void {
    this.schedules += schedules;
    this.steps += steps;
    for (const [way, count] of ways) add(this.#ways, way, count);
    for (const [kind, count] of faults) add(this.#faults, kind, count);
    for (const [end, count] of ends) add(this.#ends, end, count);
    for (const [pair, count] of pairs) add(this.#pairs, pair, count);
  }

  /** One line. */
  get progress(): string {
    const reached = WAYS.filter((way) => this.#ways.has(way)).length;
    const faults = FAULTS.map((kind) => `${kind} ${this.#faults.get(kind) ?? 0}`).join(", ");
    return `${this.schedules} schedules, ${this.steps} steps, ${reached} of ${WAYS.length} ways of a session; ${faults}`;
  }

  /** A table for a page, with what was not reached. */
  get table(): string {
    const rows = [
      ...WAYS.map((way) => [`session: ${way}`, this.#ways.get(way) ?? 0] as const),
      ...FAULTS.map((kind) => [`fault: ${kind}`, this.#faults.get(kind) ?? 0] as const),
      ...[...this.#ends].map(([end, count]) => [`a call ends in: ${end}`, count] as const),
    ];
    const lines = rows.map(([what, count]) => `${String(count).padStart(9)}  ${what}`);
    return [pairsTable(this.#pairs), "", ...lines].join("\n");
  }
}

function add<Key>(counts: Map<Key, number>, key: Key, count = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}
