/** Has the faults of a plan happen, each some steps after its moment. */

import type { Actor } from "../outside/actor.ts";
import type { Ledger } from "../outside/ledger.ts";
import type { World } from "../platform/world.ts";
import { befall } from "./befall.ts";
import { isMoment } from "./moments.ts";
import type { FaultKind } from "./faults.ts";
import type { Plan } from "./plan.ts";

/** Kinds in which something loses its memory at a moment that it does not choose. */
const DEATHS: ReadonlySet<FaultKind> = new Set(["crash", "isolate", "server"]);

export class PlannedFaults {
  /** Kinds of faults that found something to break. */
  readonly met: FaultKind[] = [];
  readonly #waiting: Set<Waiting>;

  constructor(
    plan: Plan,
    parts: {
      readonly world: World;
      readonly ledger: Ledger;
      readonly outsiders: readonly Actor[];
    },
  ) {
    const { world, ledger, outsiders } = parts;
    this.#waiting = new Set(plan.faults.map((planned) => waitingFor(planned)));
    world.onStep((label) => {
      for (const fault of this.#waiting) {
        if (!isNext(fault, label)) continue;
        this.#waiting.delete(fault);
        if (fault.times > 1)
          this.#waiting.add({ ...waitingFor(fault.planned), times: fault.times - 1 });
        const { kind } = fault;
        const broken = befall(fault, world, outsiders);
        if (broken.length === 0) continue;
        world.note(`FAULT ${kind}: ${broken.join(", ")}`);
        ledger.broke(kind, broken);
        this.met.push(kind);
        if (DEATHS.has(kind)) ledger.deaths.push(world.scheduler.now);
      }
    });
  }

  /** Nothing breaks any more. */
  stop(): void {
    this.#waiting.clear();
  }
}

type Planned = Plan["faults"][number];

interface Waiting extends Planned {
  readonly planned: Planned;
  /** Moments that are still to come. */
  count: number;
  /** Steps that are still to come after the last of them. */
  later: number;
  /** The label of that moment. */
  after: string;
}

function waitingFor(planned: Planned): Waiting {
  return { ...planned, planned, after: "" };
}

/** @returns whether the fault happens after this step. */
function isNext(fault: Waiting, label: string): boolean {
  if (fault.count > 0) {
    if (!isMoment(label, fault.moment)) return false;
    fault.count -= 1;
    fault.after = label;
    return false;
  }
  if (fault.later === 0) return true;
  fault.later -= 1;
  return false;
}
