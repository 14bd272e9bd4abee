/** The moments of faults, and what they hit, by the labels of steps. */

/** As a fault's `where`: hits what the step is about. */
export const SAME = "the same";

/** @param moment what the label has in it: several parts with `…` between them. */
export function isMoment(label: string, moment: string): boolean {
  return moment.split("…").every((part) => label.includes(part));
}

/** @returns whether a fault at this place hits what has the name. @param label of the step before it. */
export function isHit(name: string, where: string, label: string): boolean {
  if (where !== SAME) return name.includes(where);
  return label.startsWith(`${name} `) || label.startsWith(`${name}:`);
}
