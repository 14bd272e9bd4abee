/** One candidate of a form, with what was typed and what is wrong with that. */

import type { Candidate } from "../../observability/pasted-servers.ts";
import type { NewEntry, ServerRegistry } from "./server-registry.ts";

export interface FilledIn {
  readonly candidate: Candidate;
  readonly isChosen: boolean;
  /** As it would be added; as it was pasted where a value is wrong. */
  readonly entry: NewEntry;
  readonly mistakes: readonly string[];
  /** What was typed into the fields that are no secrets, to be shown again. */
  readonly typed: Readonly<Record<string, string>>;
}

/** @param control the text in a control of the form: `slug`, or `field-NAME`. */
export function filledIn(
  registry: Pick<ServerRegistry, "fillIn">,
  candidate: Candidate,
  control: (name: string) => string | undefined,
): Omit<FilledIn, "isChosen"> {
  const { fields, label } = candidate;
  const values: Record<string, string> = {};
  const typed: Record<string, string> = {};
  for (const { name, isSecret } of fields) {
    const value = control(`field-${name}`);
    if (value === undefined) continue;
    values[name] = value;
    if (!isSecret) typed[name] = value;
  }
  const slug = control("slug")?.trim() ?? candidate.slug;
  const filled = registry.fillIn(candidate, values);
  if ("sentence" in filled) {
    const { entry, secrets } = candidate;
    return {
      candidate,
      entry: { slug, label, entry, secrets },
      mistakes: [filled.sentence],
      typed,
    };
  }
  return { candidate, entry: { slug, label, ...filled }, mistakes: [], typed };
}
