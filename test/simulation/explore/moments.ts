/** The moments of faults, and what they hit, by the labels of steps. */

/** As a fault's `where`: hits what the step is about. */
export const SAME = "the same";

/** Each step is compared with the same few moments. */
const partsOf = new Map<string, readonly string[]>();

/** @param moment what the label has in it: several parts with `…` between them. */
export function isMoment(label: string, moment: string): boolean {
  let parts = partsOf.get(moment);
  if (parts === undefined) partsOf.set(moment, (parts = moment.split("…")));
  return parts.every((part) => label.includes(part));
}

/** @returns whether a fault at this place hits what has the name. @param label of the step before it. */
export function isHit(name: string, where: string, label: string): boolean {
  if (where !== SAME) return name.includes(where);
  return label.startsWith(`${name} `) || label.startsWith(`${name}:`);
}
