/** Kinds of plans of which a mixture has few, so that they can be played alone. */

import type { Plan } from "./plan.ts";

export const RARE = {
  limits: ({ limits }) => limits !== undefined,
  operator: ({ operator }) => operator !== undefined,
  published: ({ laptops }) => laptops !== undefined,
  accounts: ({ vendor, clients }) => vendor !== undefined && clients.length > 0,
  clocks: ({ faults }) => faults.some(({ kind }) => kind === "clock"),
  lies: ({ servers }) => servers.some(({ lies }) => lies === true),
  cancels: ({ clients }) =>
    clients.some((client) => client.era === "legacy" && client.cancels === true),
  streams: ({ clients }) =>
    clients.some((client) => client.era === "legacy" && client.listensTwice === true),
  followed: ({ isFollowed }) => isFollowed === true,
} as const satisfies Record<string, (plan: Plan) => boolean>;

export type Rare = keyof typeof RARE;

export function isRare(name: string): name is Rare {
  return Object.hasOwn(RARE, name);
}
