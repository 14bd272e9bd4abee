/** Plans with clients of two people, and with intruders, who try what belongs to others. */

import type { Random } from "../platform/random.ts";
import type { Plan } from "./plan.ts";

/** @returns the clients: for an only one, two of its kind. */
export function twoOf({ clients }: Plan): Plan["clients"] {
  const [first] = clients;
  return clients.length > 1 || first === undefined ? clients : [first, first];
}

export function withPeople(plan: Plan, random: Random): Plan {
  const numbers = random.chance(0.7);
  // Each has a key of its own, so that those of one person have as little in common.
  const clients = twoOf(plan).map((client, index) => ({ ...client, numbers, person: index % 2 }));
  const intruders = Array.from({ length: random.below(3) }, () => ({
    person: random.below(2),
    tries: 1 + random.below(8),
    pauseMs: random.pick([20, 300, 2000]),
  }));
  return { ...plan, clients, intruders };
}

/** Accounts and keys are people's, who sign in. */
export function hasPeople({ vendor, clients }: Plan): boolean {
  return vendor !== undefined || clients.some(({ person }) => person !== undefined);
}
